package encrypted

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wasmgate/wasmgate/storage"
)

// maxUnreadable is how many keys are remembered that could not be read. One of them
// that can be is enough for all to be read again.
const maxUnreadable = 1000

// unreadable are the keys that scans and watches found last with values that cannot
// be read: whoever keeps a copy of the store has them so.
type unreadable struct {
	some atomic.Bool // there may be any

	mu    sync.Mutex
	keys  map[string]struct{}
	again chan struct{} // closed when watches are to end
}

// saw notes what a scan or a watch found.
func (u *unreadable) saw(kv *storage.KV) {
	now := kv.Keeping == storage.Unreadable
	if !now && !u.some.Load() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case !now:
		delete(u.keys, kv.Key)
	case len(u.keys) < maxUnreadable:
		u.keys[kv.Key] = struct{}{}
	}
	u.some.Store(len(u.keys) > 0)
}

// Recheck looks whether any of the values that could not be read can be by now. Then
// all watches end as Reopened, so that whoever keeps what they say reads again.
func (s *Store) Recheck(ctx context.Context) {
	u := &s.unreadable
	u.mu.Lock()
	keys := slices.Collect(maps.Keys(u.keys))
	u.mu.Unlock()
	for _, key := range keys {
		kv, err := s.Store.Get(ctx, key)
		if storage.KindOf(err) == storage.NotFound { // as a watch will say
			continue
		}
		if err != nil {
			return
		}
		if _, _, err := s.transformer.FromStorage(ctx, key, kv.Value); err == nil {
			u.readAgain()
			return
		}
	}
}

// readAgain ends the watches. The keys stay until a scan has found them readable: one
// may be under way that has found them otherwise, and whose watch is still to begin.
func (u *unreadable) readAgain() {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(u.again)
	u.again = make(chan struct{})
}

// Watch implements storage.Watcher.
func (s *Store) Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error) {
	s.unreadable.mu.Lock()
	again := s.unreadable.again
	s.unreadable.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	kept, reason := s.Store.Watch(ctx, prefix, from)
	out := make(chan storage.Batch, cap(kept))
	var reopened atomic.Bool
	go func() {
		defer close(out)
		defer func() { // the store below ends its watch before this one has ended
			cancel()
			for range kept {
			}
		}()
		for {
			select {
			case batch, ok := <-kept:
				if !ok {
					return
				}
				select {
				case out <- s.openBatch(ctx, batch):
				case <-ctx.Done():
				}
			case <-again:
				reopened.Store(true)
				return
			}
		}
	}()
	return out, func() error {
		if reopened.Load() {
			return &storage.Error{Kind: storage.Reopened, Key: prefix}
		}
		return reason()
	}
}

// openBatch makes what is kept what watchers see. Others may have the same events.
func (s *Store) openBatch(ctx context.Context, batch storage.Batch) storage.Batch {
	batch.Events = slices.Clone(batch.Events)
	for i := range batch.Events {
		ev := &batch.Events[i]
		if !ev.Deleted {
			s.open(ctx, &ev.KV)
		}
		s.unreadable.saw(&ev.KV)
	}
	return batch
}
