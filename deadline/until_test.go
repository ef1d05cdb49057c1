package deadline

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// It ends once it is told to, whoever looks at it and when.
func TestUntilItIsToldTo(t *testing.T) {
	for _, waits := range []string{"never", "before", "after", "by a child", "by a timeout of this package"} {
		var u Until
		var ctx context.Context = &u
		var child context.Context
		switch waits {
		case "before":
			ctx.Done()
		case "by a child":
			var stop context.CancelFunc
			child, stop = context.WithTimeout(ctx, time.Hour)
			defer stop()
		case "by a timeout of this package":
			var stop context.CancelFunc
			child, stop = WithTimeout(ctx, time.Hour)
			defer stop()
			child.Done()
		}
		if err := ctx.Err(); err != nil {
			t.Errorf("%s: %v before its end", waits, err)
		}
		u.End()
		u.End()
		if err := ctx.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", waits, err)
		}
		if waits != "never" {
			<-ctx.Done()
		}
		if child != nil {
			<-child.Done()
			if err := child.Err(); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: the child says %v", waits, err)
			}
		}
	}
}

// Who waits costs no goroutine.
func TestUntilTakesNoGoroutines(t *testing.T) {
	var u Until
	before := runtime.NumGoroutine()
	for range 100 {
		child, stop := context.WithCancel(&u)
		defer stop()
		timed, end := WithTimeout(child, time.Hour)
		defer end()
		timed.Done()
	}
	if n := runtime.NumGoroutine() - before; n > 10 {
		t.Errorf("%d goroutines more", n)
	}
}
