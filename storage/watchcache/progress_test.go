package watchcache

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// asked is a store that notes when it is asked for progress, and may fail.
type asked struct {
	storage.Store
	fail error
	at   []time.Time
}

func (a *asked) RequestProgress(context.Context) error {
	a.at = append(a.at, time.Now())
	return a.fail
}

// TestManyWaitersAskLittle: however many wait, the store is asked for progress
// at a bounded pace, and a failure to ask is told.
func TestManyWaitersAskLittle_RV05(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &asked{Store: storagetest.NewMemory()}
		failures := make(chan error, 10)
		o := options()
		o.OnError = func(err error) { failures <- err }
		c := New[string](store, o)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); c.progress.pass(ctx) }()
		began := time.Now()
		waiting, stop := context.WithTimeout(ctx, 300*time.Millisecond)
		defer stop()
		for range 100 {
			go func() { _ = c.Wait(waiting, 1000) }()
		}
		<-waiting.Done()
		synctest.Wait()
		// Each waiter is patient for 5 ms and asks every 50 ms after that; those
		// that ask while the store is being asked share the next request.
		offsets := []time.Duration{}
		for _, at := range store.at {
			offsets = append(offsets, at.Sub(began))
		}
		if len(offsets) < 6 || len(offsets) > 12 || offsets[0] != waitPatience || !slices.Contains(offsets, waitPatience+waitAgain) {
			t.Errorf("asked at %v", offsets)
		}
		for i := 1; i < len(offsets); i++ {
			if offsets[i]-offsets[i-1] < progressPace {
				t.Errorf("asked at %v, faster than every %v", offsets, progressPace)
			}
		}
		if len(failures) != 0 {
			t.Errorf("failures without a failure: %v", <-failures)
		}
		before := store.at[len(store.at)-1]
		store.fail = errors.New("away")
		c.progress.request()
		if err := <-failures; !errors.Is(err, store.fail) {
			t.Errorf("the failure %v", err)
		}
		if at := store.at[len(store.at)-1]; at.Sub(before) < progressPace || time.Since(began) > 300*time.Millisecond+progressPace {
			t.Errorf("asked %v after the last time, and %v after the start", at.Sub(before), time.Since(began))
		}
		synctest.Wait()
		if len(failures) != 0 {
			t.Errorf("one failure is told again: %v", <-failures)
		}
		cancel()
		<-done
	})
}

// TestWaitIsOverAtOnce: what has been reached is not waited for, not even by
// somebody whose time is up.
func TestWaitIsOverAtOnce(t *testing.T) {
	f := feed(options())
	rev := f.do(put("g/pods/a", "1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Wait(ctx, rev); err != nil {
		t.Errorf("revision %d is there: %v", rev, err)
	}
	err := f.Wait(ctx, rev+1)
	var e *storage.Error
	if !errors.As(err, &e) || e.Kind != storage.FutureRevision || e.Revision != rev+1 || !errors.Is(err, context.Canceled) {
		t.Errorf("revision %d is not: %v", rev+1, err)
	}
}
