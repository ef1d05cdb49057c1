package api

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestDeadline_EndsAtItsTime(t *testing.T) {
	ctx, cancel := withTimeout(time.Millisecond)
	defer cancel()
	if at, ok := ctx.Deadline(); !ok || time.Until(at) > time.Millisecond {
		t.Errorf("%v %v", at, ok)
	}
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error(ctx.Err())
	}
	cancel()
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("cancelled afterwards: %v", ctx.Err())
	}
}

// The time passes too when nobody waits, and no timer is made for that.
func TestDeadline_NobodyWaits(t *testing.T) {
	late := &deadline{at: time.Now()}
	if !errors.Is(late.Err(), context.DeadlineExceeded) {
		t.Error(late.Err())
	}
	late.end()
	if !errors.Is(late.Err(), context.DeadlineExceeded) || late.inner != nil {
		t.Errorf("ended afterwards: %v", late.Err())
	}
	ctx, cancel := withTimeout(time.Hour)
	if ctx.Err() != nil {
		t.Error(ctx.Err())
	}
	cancel()
	if !errors.Is(ctx.Err(), context.Canceled) || ctx.(*deadline).inner != nil {
		t.Errorf("cancelled: %v", ctx.Err())
	}
	<-ctx.Done() // who waits now waits in vain no longer than for this
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}

// What is derived from it ends with it.
func TestDeadline_Children(t *testing.T) {
	type key struct{}
	ctx, cancel := withTimeout(time.Hour)
	child, stop := context.WithCancel(context.WithValue(ctx, key{}, 1))
	defer stop()
	if child.Value(key{}) != 1 || ctx.Value(key{}) != nil {
		t.Error("values are mixed up")
	}
	done := make(chan struct{})
	defer context.AfterFunc(child, func() { close(done) })()
	cancel()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the child does not end")
	}
	if !errors.Is(child.Err(), context.Canceled) {
		t.Error(child.Err())
	}
}

func TestDeadline_Hammer(t *testing.T) {
	for range 200 {
		ctx, cancel := withTimeout(time.Hour)
		var all sync.WaitGroup
		for i := range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				if i == 0 {
					cancel()
				}
				_ = ctx.Err()
				<-ctx.Done()
				if !errors.Is(ctx.Err(), context.Canceled) {
					t.Error(ctx.Err())
				}
			}()
		}
		all.Wait()
	}
}
