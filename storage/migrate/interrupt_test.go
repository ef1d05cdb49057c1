package migrate

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// TestRunEndsWithinThePage ends runs in the middle of a page: what they had
// begun is finished and counted, and the next goes on behind it.
func TestRunEndsWithinThePage(t *testing.T) {
	for _, concurrency := range []int{1, 4} {
		m := fill(t, 100)
		set(m, "/p/0000", "v2 already")
		var from Progress
		for runs := 0; ; runs++ {
			ctx, cancel := context.WithCancel(t.Context())
			var calls atomic.Int64
			p, err := Run(ctx, m, Options{Prefix: "/p/", From: from, PageSize: 60, Concurrency: concurrency, Rewrite: func(called context.Context, kv storage.KV) ([]byte, bool, error) {
				if calls.Add(1) == 17 {
					cancel()
				}
				if called.Err() != nil {
					t.Error("a key that was begun is not let finish")
				}
				return toV2(called, kv)
			}})
			cancel()
			if p.Revision != 0 {
				t.Errorf("%d at once, run %d: more than %+v was done", concurrency, runs, p)
			}
			if err == nil {
				if runs < 3 || p.Done != 100 || p.Rewritten != 99 || p.Skipped != 1 || p.Total != 100 {
					t.Errorf("%d at once, after %d runs: %+v", concurrency, runs, p)
				}
				break
			}
			if !errors.Is(err, context.Canceled) || p.Done != from.Done+calls.Load() || p.Cursor != fmt.Sprintf("/p/%04d", p.Done-1) || p.Total != 100 {
				t.Fatalf("%d at once, run %d: %+v of %d calls, %v", concurrency, runs, p, calls.Load(), err)
			}
			from = p
		}
		wantAll(t, m, 100)
	}
}

// TestRunGoesOnAfterACrash: of a run nobody knows more than the last progress
// that it saved. What it rewrote after that counts; what was as it should be,
// also when somebody wrote it meanwhile, and what is new does not.
func TestRunGoesOnAfterACrash(t *testing.T) {
	for compacted, rewritten := range map[bool]int64{false: 28, true: 19} {
		m := fill(t, 30)
		set(m, "/p/0001", "v2 before")
		set(m, "/p/0013", "v2 before")
		var saved Progress
		crash := errors.New("crash")
		o := Options{Prefix: "/p/", PageSize: 10, Rewrite: toV2, Progress: func(p Progress) error {
			if p.Done == 20 {
				return crash // after the second page, which is not saved
			}
			saved = p
			return nil
		}}
		if _, err := Run(t.Context(), m, o); !errors.Is(err, crash) {
			t.Fatal(err)
		}
		set(m, "/p/0013", "v2 written meanwhile")
		set(m, "/p/00145", "v2 new")
		if compacted {
			if err := m.Compact(t.Context(), mustRevision(t, m)); err != nil {
				t.Fatal(err)
			}
		}
		if saved.Done != 10 || saved.Revision == 0 {
			t.Fatalf("saved %+v", saved)
		}
		ctx, cancel := context.WithCancel(t.Context())
		p, err := Run(ctx, m, Options{Prefix: "/p/", PageSize: 10, Concurrency: 1, From: saved, Since: saved.Revision, Rewrite: func(_ context.Context, kv storage.KV) ([]byte, bool, error) {
			if kv.Key == "/p/0012" {
				cancel() // and what the crashed run did goes on behind that
			}
			return toV2(ctx, kv)
		}})
		if !errors.Is(err, context.Canceled) || p.Revision != saved.Revision || p.Done < 13 || p.Done > 14 {
			t.Fatalf("%+v, %v", p, err)
		}
		p, err = Run(t.Context(), m, Options{Prefix: "/p/", PageSize: 10, Rewrite: toV2, From: p, Since: p.Revision})
		if err != nil || p.Done != 31 || p.Rewritten != rewritten || p.Skipped != 31-rewritten {
			t.Errorf("compacted %v: %+v, %v", compacted, p, err)
		}
	}
}

// TestRunGoesOnAfterAnOutage: the keys that were done after the first that was
// not are counted by the next run.
func TestRunGoesOnAfterAnOutage(t *testing.T) {
	m := fill(t, 20)
	s := &outage{Memory: m, key: "/p/0006", others: make(chan struct{})}
	p, err := Run(t.Context(), s, Options{Prefix: "/p/", Concurrency: 4, Rewrite: toV2})
	if storage.KindOf(err) != storage.Unavailable || p.Cursor != "/p/0005" || p.Done != 6 || p.Revision == 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	p, err = Run(t.Context(), m, Options{Prefix: "/p/", Rewrite: toV2, From: p, Since: p.Revision})
	if err != nil || p.Rewritten != 20 || p.Skipped != 0 || p.Done != 20 {
		t.Errorf("%+v, %v", p, err)
	}
}

// outage is a store that, once, is away for one key, when a later one is done.
type outage struct {
	*storagetest.Memory
	key    string
	others chan struct{}
}

func (o *outage) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	written, err := o.Memory.Update(ctx, key, value, rev, ttl)
	switch key {
	case "/p/0008":
		close(o.others)
	case o.key:
		<-o.others
		return 0, &storage.Error{Kind: storage.Unavailable, Key: key}
	}
	return written, err
}

func (o *outage) Get(ctx context.Context, key string) (storage.KV, error) {
	if key == o.key {
		return storage.KV{}, &storage.Error{Kind: storage.Unavailable, Key: key}
	}
	return o.Memory.Get(ctx, key)
}

// full is a store that takes nothing more, and counts who tries.
type full struct {
	*storagetest.Memory
	tried atomic.Int64
}

func (f *full) Update(_ context.Context, key string, _ []byte, _ int64, _ time.Duration) (int64, error) {
	f.tried.Add(1)
	return 0, &storage.Error{Kind: storage.Full, Key: key}
}

// TestRunLeavesAStoreAloneThatTakesNothing: once it is known for one key, the others of
// the page are not tried.
func TestRunLeavesAStoreAloneThatTakesNothing(t *testing.T) {
	for _, concurrency := range []int{1, 4} {
		s := &full{Memory: fill(t, 100)}
		p, err := Run(t.Context(), s, Options{Prefix: "/p/", Concurrency: concurrency, Rewrite: toV2})
		if storage.KindOf(err) != storage.Full || p.Done != 0 {
			t.Errorf("%+v, %v", p, err)
		}
		// Each may have one under way, and one be handed over.
		if most := int64(2*concurrency + 1); s.tried.Load() > most {
			t.Errorf("%d keys are tried by %d at once, want %d at most", s.tried.Load(), concurrency, most)
		}
	}
}

// TestRunEndsThoughAKeyDoesNot: a key that takes too long after the end is neither done nor
// failed, and the next run begins with it.
func TestRunEndsThoughAKeyDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p, err := Run(ctx, fill(t, 10), Options{Prefix: "/p/", Concurrency: 1, Rewrite: func(called context.Context, kv storage.KV) ([]byte, bool, error) {
			if kv.Key == "/p/0003" {
				cancel()
				<-called.Done()
				return nil, false, called.Err()
			}
			return toV2(called, kv)
		}})
		if !errors.Is(err, context.Canceled) || p.Done != 3 || p.Failed != 0 || p.Cursor != "/p/0002" {
			t.Errorf("%+v, %v", p, err)
		}
	})
}
