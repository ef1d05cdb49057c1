package pool

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// pace holds back new members while old ones keep being discarded: each discard
// counts, and beyond what is allowed the next member is made later. What is made
// for the first time, or because of age or want of room, counts for nothing.
type pace struct {
	allowed *rate.Limiter // nil allows any number

	mu    sync.Mutex
	until time.Time // before which no member is made
	held  int64     // how many had to wait
}

// discarded counts one.
func (p *pace) discarded(now time.Time) {
	if p.allowed == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := now.Add(p.allowed.ReserveN(now, 1).DelayFrom(now)); at.After(p.until) {
		p.until = at
	}
}

// wait returns when a member may be made. The error is that of ctx, or
// ErrDrained.
func (p *pace) wait(ctx context.Context, draining <-chan struct{}) error {
	p.mu.Lock()
	left := time.Until(p.until)
	if left > 0 {
		p.held++
	}
	p.mu.Unlock()
	if left <= 0 {
		return nil
	}
	later := time.NewTimer(left)
	defer later.Stop()
	select {
	case <-later.C:
		return nil
	case <-draining:
		return ErrDrained
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pace) heldBack() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}
