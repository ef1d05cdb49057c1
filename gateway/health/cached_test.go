package health

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counted is a check that counts how often it is asked.
type counted struct {
	asked atomic.Int32
	err   error
}

func (c *counted) check(context.Context) error { c.asked.Add(1); return c.err }

func TestCached_AsksOncePerAge(t *testing.T) {
	at := time.Unix(1000, 0)
	var c counted
	check := Cached(c.check, 0, time.Second, func() time.Time { return at })
	step := func(d time.Duration, err error, asked int32) {
		t.Helper()
		at = at.Add(d)
		if got := check(t.Context()); !errors.Is(got, err) || c.asked.Load() != asked {
			t.Errorf("after %s: %v, asked %d times, want %v, %d", d, got, c.asked.Load(), err, asked)
		}
	}
	step(0, nil, 1)
	step(0, nil, 1)
	step(time.Second-1, nil, 1)
	c.err = errDown
	step(1, errDown, 2)
	c.err = nil
	step(time.Second-1, errDown, 2) // a failure stands as long
	step(1, nil, 3)
	step(-time.Hour, nil, 4) // the clock was set back
}

func TestCached_ConcurrentProbesShareOneResult(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	var asked atomic.Int32
	check := Cached(func(context.Context) error {
		asked.Add(1)
		close(begun)
		<-finish
		return errDown
	}, 0, time.Hour, nil)
	var probes sync.WaitGroup
	for range 50 {
		probes.Add(1)
		go func() {
			defer probes.Done()
			if err := check(context.Background()); !errors.Is(err, errDown) {
				t.Error(err)
			}
		}()
	}
	<-begun
	// Who waits does so no longer than its own context allows.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a probe that left: %v", err)
	}
	close(finish)
	probes.Wait()
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// A probe's time is its client's to choose, and says nothing about what it asked: the
// check has its own.
func TestCached_TheTimeIsTheChecks(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	late, release := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer release()
	asked := 0
	c := &cached{age: 0, now: time.Now, turn: make(chan struct{}, 1), check: func(ctx context.Context) error { asked++; return ctx.Err() }}
	for _, of := range []context.Context{gone, late} {
		for begun := asked; asked == begun; { // of two cases that are ready a select takes either
			if err := c.get(of); err != nil && !errors.Is(err, of.Err()) {
				t.Error(err)
			}
			c.turn <- struct{}{} // it has ended
			<-c.turn
		}
		if !c.known || c.result != nil {
			t.Errorf("a probe whose time is over (%v) finds %v", of.Err(), c.result)
		}
	}
	c.within, c.check = 1, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	if err := c.get(context.Background()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("past its own time: %v", err)
	}
}
