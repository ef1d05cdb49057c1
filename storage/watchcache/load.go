package watchcache

import (
	"context"
	"fmt"

	"github.com/wasmgate/wasmgate/storage"
)

// loader reads what the store holds into the buckets. Only whoever runs the writer
// uses it, and so it has no lock.
type loader[T any] struct {
	store    holder
	onError  func(error)
	keys     *keys
	makeItem func(kv storage.KV) T // Make of [Options]
	again    func(T) bool
	past     int // Replay of [Options]

	progress   *progress
	compaction *compaction
	buckets    *buckets[T]
	offers     *offers[T]
	writer     *writer[T]

	target int64 // the revision to reach before the cache is ready
}

// holder is what a loader needs of a storage.Store.
type holder interface {
	// Revision and Scan are those of storage.Reader, Watch that of storage.Watcher.
	Revision(ctx context.Context) (int64, error)
	Scan(ctx context.Context, r storage.Range, fn func(storage.Page) error) error
	Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error)
}

// load reads the prefix and replaces everything by it. The first load goes
// back into the past, if it can, and comes to the present through the events
// since, so that the rings hold what happened lately.
func (l *loader[T]) load(ctx context.Context) error {
	current, err := l.store.Revision(ctx)
	if err != nil {
		return fmt.Errorf("watchcache: load: %w", err)
	}
	l.target = current
	past, err := l.pastRevision(ctx, current)
	if err != nil {
		return fmt.Errorf("watchcache: load: %w", err)
	}
	if past < current {
		err := l.loadAt(ctx, past)
		if err == nil {
			err = l.replay(ctx, past, current)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		// The past is a comfort; the present is enough.
		l.onError(fmt.Errorf("watchcache: history from revision %d: %w", past, err))
	}
	if err := l.loadAt(ctx, 0); err != nil {
		return fmt.Errorf("watchcache: load: %w", err)
	}
	return nil
}

// pastRevision chooses where to start: as far back as wanted and held, but
// never behind what readers have already seen.
func (l *loader[T]) pastRevision(ctx context.Context, current int64) (int64, error) {
	compacted, err := l.compaction.look(ctx)
	if err != nil {
		return 0, err
	}
	if l.past < 0 || l.progress.rev.Load() > 0 {
		return current, nil
	}
	return max(compacted, current-int64(l.past), 1), nil
}

// content is what a load has read so far, by bucket and in key order.
type content[T any] map[string][]*Item[T]

// loadAt reads the prefix at rev, 0 meaning now.
func (l *loader[T]) loadAt(ctx context.Context, rev int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pages := make(chan storage.Page, 1)
	var failure error // set before pages is closed
	go func() {
		defer close(pages)
		failure = l.store.Scan(ctx, storage.Range{Prefix: l.keys.prefix, Revision: rev}, func(page storage.Page) error {
			select {
			case pages <- page:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	// Items are made while the next page is on its way.
	all := content[T]{}
	for page := range pages {
		rev = page.Revision
		for _, kv := range page.KVs {
			l.take(all, kv)
		}
	}
	if failure != nil {
		return failure
	}
	l.buckets.replace(all, rev)
	l.offers.resolve()
	return nil
}

func (l *loader[T]) take(all content[T], kv storage.KV) {
	name, key, ok := l.keys.locate(kv.Key)
	if !ok {
		return
	}
	// What is already there in the same revision keeps what was derived of it.
	if b := l.buckets.present()[name]; b != nil {
		if it := b.state.Load().root.get(key); it != nil && it.Revision == kv.Revision && !l.again(it.Value) {
			all[name] = append(all[name], it)
			return
		}
	}
	all[name] = append(all[name], &Item[T]{Key: key, Revision: kv.Revision, Value: l.makeItem(kv)})
}
