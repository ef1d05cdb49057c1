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
	check := Cached(c.check, time.Second, func() time.Time { return at })
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
	}, time.Hour, nil)
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

// A probe that gives up says nothing about what it asked; one that waited in
// vain does.
func TestCached_KeepsTimeoutsAndNotCancellations(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	late, release := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer release()
	check := func(ctx context.Context) error { cancel(); return ctx.Err() }
	c := &cached{check: check, age: time.Hour, now: time.Now, turn: make(chan struct{}, 1)}
	if err := c.get(gone); !errors.Is(err, context.Canceled) || c.known {
		t.Errorf("cancelled: %v, kept %v", err, c.known)
	}
	for !c.known { // of two cases that are ready a select takes either
		_ = c.get(late)
	}
	if err := c.get(context.Background()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("timed out: %v", err)
	}
}
