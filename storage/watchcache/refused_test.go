package watchcache

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// refusing is a store whose watches from a revision below a bound break.
type refusing struct {
	storage.Store
	below   atomic.Int64
	kind    storage.Kind
	refused atomic.Int64
	told    chan struct{} // of each refusal
}

func (r *refusing) Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error) {
	if from >= r.below.Load() {
		return r.Store.Watch(ctx, prefix, from)
	}
	r.refused.Add(1)
	select {
	case r.told <- struct{}{}:
	case <-ctx.Done():
	}
	ch := make(chan storage.Batch)
	close(ch)
	return ch, func() error { return &storage.Error{Kind: r.kind} }
}

// TestRefusedTwiceLoadsAgain: a watch that can never catch up from where the
// cache is must not hold it up for ever.
func TestRefusedTwiceLoadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		m.Apply(put("g/pods/a", "1"))
		store := &refusing{Store: m, kind: storage.TooLarge, told: make(chan struct{}, 10)}
		c := run(t, store, options())
		cur := watch(t, c.Bucket("g/pods"), c.Revision())
		store.below.Store(c.Revision() + 1)
		m.Break()
		<-store.told
		m.Apply(put("g/pods/a", "2"))
		rev := fresh(t, c)
		wantContent(t, c.Bucket("g/pods").Snapshot(), "a=2")
		if c.Revision() < rev {
			t.Errorf("at %d, want %d", c.Revision(), rev)
		}
		if n := store.refused.Load(); n != 2 {
			t.Errorf("refused %d times before loading again, want 2", n)
		}
		if _, err := cur.TryNext(1); !IsExpired(err) {
			t.Errorf("a watcher that missed something got %v", err)
		}
	})
}

func TestHopeless(t *testing.T) {
	c := New[string](nil, options())
	for i, step := range []struct {
		kind     storage.Kind
		revision int64
		want     bool
	}{
		{storage.Compacted, 5, true},
		{storage.Compacted, 5, true},
		{storage.Unavailable, 5, false},
		{storage.Unavailable, 5, false},
		{0, 5, false},
		{0, 5, false},
		{storage.TooLarge, 5, false},
		{storage.TooLarge, 6, false}, // it got further
		{storage.TooLarge, 6, true},
		{storage.FutureRevision, 6, false}, // another reason
		{storage.TooLarge, 6, false},
	} {
		c.progress.rev.Store(step.revision)
		if got := c.hopeless(step.kind); got != step.want {
			t.Errorf("step %d, %v at %d: %v, want %v", i, step.kind, step.revision, got, step.want)
		}
	}
}

// TestHistoryThroughADecorator: whoever wraps the store must not lose what it
// says about its history.
func TestHistoryThroughADecorator(t *testing.T) {
	m := storagetest.NewMemory()
	var middle int64
	for i := range 20 {
		if rev := m.Apply(put("g/pods/a", "x")); i == 10 {
			middle = rev
		}
	}
	if err := m.Compact(t.Context(), middle); err != nil {
		t.Fatal(err)
	}
	o := options()
	o.OnError = func(err error) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("loading failed in between: %v", err)
		}
	}
	c := run(t, struct{ storage.Store }{m}, o)
	if _, err := c.Bucket("g/pods").Watch(middle); err != nil {
		t.Errorf("from revision %d, which the store still has: %v", middle, err)
	}
}

// away is a store that tells no revision for a while.
type away struct {
	storage.Store
	failing atomic.Bool
}

func (a *away) Revision(ctx context.Context) (int64, error) {
	if a.failing.Load() {
		return 0, &storage.Error{Kind: storage.Unavailable}
	}
	return a.Store.Revision(ctx)
}

// A store that cannot be loaded from is told, and loaded from once it answers.
func TestAStoreThatIsAwayIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		m.Apply(put("g/pods/a", "1"))
		store := &away{Store: m}
		store.failing.Store(true)
		o, told := options(), make(chan error, 1)
		o.OnError = func(err error) {
			if store.failing.Swap(false) {
				told <- err
			}
		}
		c := run(t, store, o)
		if err := <-told; storage.KindOf(err) != storage.Unavailable {
			t.Errorf("told %v", err)
		}
		wantContent(t, c.Bucket("g/pods").Snapshot(), "a=1")
	})
}
