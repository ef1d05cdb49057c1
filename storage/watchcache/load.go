package watchcache

import (
	"context"
	"fmt"
	"maps"

	"github.com/wasmgate/wasmgate/storage"
)

// load reads the prefix and replaces everything by it. The first load goes
// back into the past, if it can, and comes to the present through the events
// since, so that the rings hold what happened lately.
func (c *Cache[T]) load(ctx context.Context) error {
	current, err := c.store.Revision(ctx)
	if err != nil {
		return fmt.Errorf("watchcache: load: %w", err)
	}
	c.target = current
	past, err := c.pastRevision(ctx, current)
	if err != nil {
		return fmt.Errorf("watchcache: load: %w", err)
	}
	if past < current {
		err := c.loadAt(ctx, past)
		if err == nil {
			err = c.replay(ctx, past, current)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		// The past is a comfort; the present is enough.
		c.o.OnError(fmt.Errorf("watchcache: history from revision %d: %w", past, err))
	}
	if err := c.loadAt(ctx, 0); err != nil {
		return fmt.Errorf("watchcache: load: %w", err)
	}
	return nil
}

// pastRevision chooses where to start: as far back as wanted and held, but
// never behind what readers have already seen.
func (c *Cache[T]) pastRevision(ctx context.Context, current int64) (int64, error) {
	compacted, err := c.store.CompactedRevision(ctx)
	if err != nil {
		return 0, err
	}
	c.compacted.Store(compacted)
	if c.o.Replay < 0 || c.rev.Load() > 0 {
		return current, nil
	}
	return max(compacted, current-int64(c.o.Replay), 1), nil
}

// content is what a load has read so far, by bucket and in key order.
type content[T any] map[string][]*Item[T]

// loadAt reads the prefix at rev, 0 meaning now.
func (c *Cache[T]) loadAt(ctx context.Context, rev int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pages := make(chan storage.Page, 1)
	var failure error // set before pages is closed
	go func() {
		defer close(pages)
		failure = c.store.Scan(ctx, storage.Range{Prefix: c.o.Prefix, Revision: rev}, func(page storage.Page) error {
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
			c.take(all, kv)
		}
	}
	if failure != nil {
		return failure
	}
	c.replace(all, rev)
	return nil
}

func (c *Cache[T]) take(all content[T], kv storage.KV) {
	name, key, ok := c.locate(kv.Key)
	if !ok {
		return
	}
	// What is already there in the same revision keeps what was derived of it.
	if b := (*c.buckets.Load())[name]; b != nil {
		if it := b.state.Load().root.get(key); it != nil && it.Revision == kv.Revision && !c.o.Again(it.Value) {
			all[name] = append(all[name], it)
			return
		}
	}
	all[name] = append(all[name], &Item[T]{Key: key, Revision: kv.Revision, Value: c.o.Make(kv)})
}

// replace makes the content read at rev that of all buckets.
func (c *Cache[T]) replace(all content[T], rev int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = rev
	next := maps.Clone(*c.buckets.Load())
	for name := range c.resting {
		if b := c.wakeLocked(name); b != nil {
			next[name] = b
		}
	}
	for name, b := range next {
		b.reset(&state[T]{rev: rev, root: build(all[name])})
		delete(all, name)
	}
	for name, items := range all {
		b := newBucket(c, name, rev)
		b.install(0, &state[T]{rev: rev, root: build(items)})
		next[name] = b
	}
	c.buckets.Store(&next)
	c.rev.Store(rev)
	c.moved.notify()
	c.resolveOffers()
}
