package pool

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Who fails in every use is made again only so often; who does not is not held up.
func TestDiscardsAreReplacedSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &factory{}
		p := New(Config[*thing]{New: f.new, Close: f.close, Max: 2, MaxUses: 1, Discards: Allowance{PerSecond: 10, Burst: 5}})
		begun := time.Now()
		for range 100 { // each is worn out by its use
			take(t, p).Return()
		}
		for range 6 {
			take(t, p).Discard()
		}
		if d := time.Since(begun); d != 0 {
			t.Errorf("the first are held back for %s", d)
		}
		for range 10 {
			take(t, p).Discard()
		}
		if d := time.Since(begun); d != time.Second || p.Stats().HeldBack != 10 {
			t.Errorf("ten more took %s, %+v", d, p.Stats())
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := p.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a context that ends: %v", err)
		}
		take(t, p).Return()
		if s := p.Stats(); s.InUse != 0 || f.alive.Load() != 0 {
			t.Errorf("%+v, %d alive", s, f.alive.Load())
		}
		<-time.After(time.Minute) // what is not used is not saved up for ever
		begun = time.Now()
		for range 7 {
			take(t, p).Discard()
		}
		if d := time.Since(begun); d != 100*time.Millisecond {
			t.Errorf("after a while seven took %s", d)
		}

		drained := make(chan error)
		go func() {
			_, err := p.Take(t.Context())
			drained <- err
		}()
		synctest.Wait()
		p.Drain()
		if err := <-drained; !errors.Is(err, ErrDrained) {
			t.Errorf("who waits while the pool is drained: %v", err)
		}
		<-p.Empty()
	})
}

// What fails now and then among many uses is made again at once.
func TestUsesPayForDiscards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &factory{}
		p := New(Config[*thing]{New: f.new, Close: f.close, Max: 1, Discards: Allowance{PerSecond: 1, Burst: 1, PerUse: 0.25}})
		begun := time.Now()
		for range 100 {
			for range 4 {
				take(t, p).Return()
			}
			take(t, p).Discard()
		}
		if d := time.Since(begun); d != 0 {
			t.Errorf("it took %s", d)
		}
		for range 100 { // half of them are paid for
			take(t, p).Return()
			take(t, p).Return()
			take(t, p).Discard()
		}
		if d := time.Since(begun); d < 45*time.Second || d > 50*time.Second {
			t.Errorf("it took %s", d)
		}
	})
}

// A member that its user leaves is replaced at once.
func TestWhatIsLeftIsReplacedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &factory{}
		p := New(Config[*thing]{New: f.new, Close: f.close, Max: 1, Discards: Allowance{PerSecond: 1, Burst: 1}})
		begun := time.Now()
		for range 100 {
			take(t, p).End()
		}
		if d := time.Since(begun); d != 0 || p.Stats().HeldBack != 0 || f.alive.Load() != 0 {
			t.Errorf("it took %s, %+v, %d alive", d, p.Stats(), f.alive.Load())
		}
	})
}

// Without a bound nothing waits.
func TestDiscardsWithoutABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &factory{}
		p := newPool(f, 1, 0)
		begun := time.Now()
		for range 1000 {
			take(t, p).Discard()
		}
		if d := time.Since(begun); d != 0 {
			t.Errorf("it took %s", d)
		}
	})
}
