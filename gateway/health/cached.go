package health

import (
	"context"
	"fmt"
	"time"
)

// Cached is a check whose result stands for age, so that what a probe costs
// does not depend on how many there are: health is open to everybody. One
// asks check for all, for at most within (0: check ends by itself) and however
// long the probe that began it has: a probe's time is its client's to choose,
// and says nothing about what is checked. All wait for the result as long as
// their contexts allow. now tells the time; nil means the system's clock.
func Cached(check Check, within, age time.Duration, now func() time.Time) Check {
	if now == nil {
		now = time.Now
	}
	c := &cached{check: check, within: within, age: age, now: now, turn: make(chan struct{}, 1)}
	return c.get
}

type cached struct {
	check       Check
	within, age time.Duration
	now         func() time.Time

	// turn holds one value while somebody uses what follows.
	turn   chan struct{}
	known  bool
	at     time.Time // when result was found
	result error
}

func (c *cached) get(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.known && c.now().Sub(c.at).Abs() < c.age {
		defer func() { <-c.turn }()
		return c.result
	}
	found := make(chan error, 1)
	go func() {
		defer func() { <-c.turn }()
		defer func() {
			if r := recover(); r != nil { // a check is others' code, and nobody above recovers
				found <- fmt.Errorf("the check has panicked: %v", r)
			}
		}()
		err := c.ask(context.WithoutCancel(ctx))
		c.known, c.at, c.result = true, c.now(), err
		found <- err
	}()
	select {
	case err := <-found:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *cached) ask(ctx context.Context) error {
	if c.within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.within)
		defer cancel()
	}
	return c.check(ctx)
}
