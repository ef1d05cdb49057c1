package proof

import (
	"context"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
)

// pace is a converter that is asked so often and no more. One goroutine uses it.
type pace struct {
	conversion.Converter
	every time.Duration
	next  time.Time
}

func paced(c conversion.Converter, perSecond int) conversion.Converter {
	if perSecond <= 0 {
		return c
	}
	return &pace{Converter: c, every: time.Second / time.Duration(perSecond)}
}

// Convert implements [conversion.Converter].
func (p *pace) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	if left := time.Until(p.next); left > 0 {
		timer := time.NewTimer(left)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.next = time.Now().Add(p.every)
	return p.Converter.Convert(ctx, desired, objects)
}
