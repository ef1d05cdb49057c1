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

// heldUp is a store whose watches stop delivering while gate is taken.
type heldUp struct {
	storage.Store
	gate chan struct{} // holds one token unless the watches are held up
}

func (h heldUp) Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error) {
	in, reason := h.Store.Watch(ctx, prefix, from)
	out := make(chan storage.Batch)
	go func() {
		defer close(out)
		for b := range in {
			select {
			case <-h.gate:
				h.gate <- struct{}{}
			case <-ctx.Done():
				return
			}
			select {
			case out <- b:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, reason
}

// TestRevisionAheadOfTheCache: a read that needs a revision which the cache
// has not reached waits for it, and then finds what was written at it.
func TestRevisionAheadOfTheCache_RV05_RVL7_WATCH12(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		store := heldUp{m, make(chan struct{}, 1)}
		store.gate <- struct{}{}
		c := run(t, store, options())
		b := c.Bucket("g/pods")
		start := fresh(t, c)
		<-store.gate // from here on nothing comes

		rev := m.Apply(put("g/pods/a", "1"))
		future := watch(t, b, rev-1)
		reads := map[string]func(context.Context) error{
			"a read not older than the write": func(ctx context.Context) error { return c.Wait(ctx, rev) },
			"a consistent read": func(ctx context.Context) error {
				at, err := c.Fresh(ctx)
				if err == nil && at < rev {
					t.Errorf("a consistent read is content with %d, the write was at %d", at, rev)
				}
				return err
			},
			"a watch": func(ctx context.Context) error {
				events, at, err := future.Next(ctx, 5)
				if err == nil && (len(events) != 1 || events[0].Item.Revision != rev || at != rev) {
					t.Errorf("a watch got %v up to %d", events, at)
				}
				return err
			},
		}
		for name, read := range reads {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := read(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s does not wait: %v", name, err)
			}
			cancel()
		}
		if s := b.Snapshot(); s.Len() != 0 || s.Revision() != start {
			t.Fatalf("the cache is at %d with %d items although it is held up", s.Revision(), s.Len())
		}

		done := make(chan error, len(reads))
		for _, read := range reads {
			go func() {
				err := read(t.Context())
				if it, ok := b.Snapshot().Get("a"); err == nil && (!ok || it.Value != "1") {
					err = errors.New("the write is not there")
				}
				done <- err
			}()
		}
		synctest.Wait()
		if len(done) != 0 {
			t.Fatalf("somebody did not wait: %v", <-done)
		}
		store.gate <- struct{}{}
		for range reads {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
