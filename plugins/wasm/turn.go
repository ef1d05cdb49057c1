package wasm

import (
	"context"
	"runtime"
	"time"
)

// turns leave a processor to the rest of the gateway: calls that last are one
// fewer at a time than there are processors, of all modules together, and take
// turns. While guests run on all processors nobody looks at the network.
type turns struct {
	// taken has an element for each turn that somebody has; whoever waits to
	// send is next.
	taken chan struct{}
	// length is how long a turn is, and how long a call runs without one: as
	// long as a batch of conversions, which are to use all processors.
	length time.Duration
}

func newTurns() *turns {
	return &turns{taken: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)), length: 100 * time.Millisecond}
}

// turn is what one call has of them. It is used by the goroutine of the call.
type turn struct {
	turns *turns
	// since is when the call began, or got its turn.
	since time.Time
	has   bool
}

func (t *turn) begin(now time.Time) { t.since = now }

// early makes a call need a turn from the beginning: the start of an instance,
// as a module that fails in each call does nothing else.
func (t *turn) early() { t.since = time.Time{} }

// next waits for a turn when the call has run for as long as one. Waiting
// counts as running: the caller waits too.
func (t *turn) next(ctx context.Context, now, deadline time.Time) error {
	if now.Sub(t.since) < t.turns.length {
		return nil
	}
	t.end()
	late := time.NewTimer(deadline.Sub(now))
	defer late.Stop()
	select {
	case t.turns.taken <- struct{}{}:
		t.has, t.since = true, time.Now()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return context.DeadlineExceeded
	}
}

// end gives a turn back.
func (t *turn) end() {
	if t.has {
		<-t.turns.taken
		t.has = false
	}
}
