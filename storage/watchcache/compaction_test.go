package watchcache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// asks is a store that tells when it is asked for its compacted revision.
type asks struct {
	storage.Store
	at chan time.Time
}

func (s *asks) CompactedRevision(ctx context.Context) (int64, error) {
	s.at <- time.Now()
	return s.Store.CompactedRevision(ctx)
}

// TestCompactionIsFollowed: what the store no longer serves, the cache does
// not either, whatever goes wrong in between.
func TestCompactionIsFollowed_RV08_RV17(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		var failures []error
		o := options()
		o.OnError = func(err error) { failures = append(failures, err) }
		store := &asks{m, make(chan time.Time)}
		c := New[string](store, o)
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); c.compaction.follow(ctx) }()
		for i := range 5 {
			m.Apply(put("g/pods/a", string(rune('0'+i))))
		}
		compact := func(rev int64) {
			t.Helper()
			if err := m.Compact(ctx, rev); err != nil {
				t.Fatal(err)
			}
		}
		looks := func(round time.Duration) {
			t.Helper()
			if at := (<-store.at).Sub(began); at != round*tick {
				t.Errorf("the store is asked after %v, want %v", at, round*tick)
			}
			synctest.Wait() // what it says is taken up
		}
		compact(3)
		synctest.Wait()
		if got := c.compaction.rev.Load(); got != 0 {
			t.Errorf("looked too soon: %d", got)
		}
		looks(1)
		if got := c.compaction.rev.Load(); got != 3 || len(failures) != 0 {
			t.Errorf("compacted at %d, failures %v", got, failures)
		}
		m.Down(errors.New("away"))
		compact(4)
		looks(2)
		if got := c.compaction.rev.Load(); got != 3 || len(failures) != 1 {
			t.Errorf("while the store is away: compacted at %d, failures %v", got, failures)
		}
		m.Down(nil)
		looks(3)
		if got := c.compaction.rev.Load(); got != 4 || len(failures) != 1 {
			t.Errorf("once it is back: compacted at %d, failures %v", got, failures)
		}
		cancel()
		<-done
		if len(failures) != 1 {
			t.Errorf("its own end is a failure: %v", failures)
		}
	})
}
