package health

import (
	"context"
	"errors"
	"time"
)

// Cached is a check whose result stands for age, so that what a probe costs
// does not depend on how many there are: health is open to everybody. One
// probe at a time asks check; the others wait for its result as long as their
// contexts allow. now tells the time; nil means the system's clock.
func Cached(check Check, age time.Duration, now func() time.Time) Check {
	if now == nil {
		now = time.Now
	}
	c := &cached{check: check, age: age, now: now, turn: make(chan struct{}, 1)}
	return c.get
}

type cached struct {
	check Check
	age   time.Duration
	now   func() time.Time

	// turn holds one value while somebody uses what follows.
	turn   chan struct{}
	known  bool
	at     time.Time // when result was found
	result error
}

func (c *cached) get(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.known && c.now().Sub(c.at).Abs() < c.age {
		return c.result
	}
	err := c.check(ctx)
	if errors.Is(ctx.Err(), context.Canceled) { // says nothing about what is checked
		return err
	}
	c.known, c.at, c.result = true, c.now(), err
	return err
}
