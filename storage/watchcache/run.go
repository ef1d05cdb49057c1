package watchcache

import (
	"context"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = 5 * time.Second
	// tick is how often an idle watch is asked for progress, old events are
	// dropped and the compacted revision is looked up; staleAfter is how long
	// a watch may stay silent all the same.
	tick       = 5 * time.Second
	staleAfter = 6 * tick
	// startTick paces requests for progress until the cache is ready.
	startTick = 20 * time.Millisecond
)

// Run loads the cache and follows the store until ctx ends; then it returns
// ctx's error. While the store is away it keeps trying, and what was loaded
// stays readable.
//
//	empty --load--> following --watch breaks--> following, from the next revision
//	                following --that is compacted--> load again; watchers get Expired
//	                following --values have become readable--> the same
//	                following --refused twice alike at one revision--> load again
func (c *Cache[T]) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { c.progress.pass(ctx) })
	wg.Go(func() { c.compaction.follow(ctx) })
	backoff := minBackoff
	for {
		before := c.progress.rev.Load()
		err := c.runOnce(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.setTrouble(err)
		c.o.OnError(err)
		c.writer.sweep(time.Now())
		if c.progress.rev.Load() > before {
			backoff = minBackoff
		}
		select {
		case <-time.After(backoff):
			backoff = min(2*backoff, maxBackoff)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// runOnce loads if need be and follows until something goes wrong.
func (c *Cache[T]) runOnce(ctx context.Context) error {
	if !c.loaded {
		if err := c.loader.load(ctx); err != nil {
			return err
		}
		c.loaded = true
	}
	err := c.follow(ctx)
	if c.hopeless(storage.KindOf(err)) {
		c.loaded = false
	}
	return err
}

// hopeless decides whether to go on watching from where the cache is makes
// sense after a watch broke for a reason of the kind. What is not known to
// pass by itself gets one more try.
func (c *Cache[T]) hopeless(kind storage.Kind) bool {
	now := failure{kind: kind, revision: c.progress.rev.Load()}
	again := now == c.lastFailure
	c.lastFailure = now
	switch kind {
	case storage.Compacted, storage.Reopened:
		return true
	case 0, storage.Unavailable: // gone silent, or away
		return false
	}
	return again
}

// failure is how and where a watch broke.
type failure struct {
	kind     storage.Kind
	revision int64
}

// follow applies the watch's batches until it breaks or goes silent.
func (c *Cache[T]) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// From the present revision, not the next: etcd reports no progress to a
	// watch that begins in the future, so an idle store would look dead.
	batches, reason := c.store.Watch(ctx, c.o.Prefix, c.progress.rev.Load())
	ticker := time.NewTicker(startTick)
	defer ticker.Stop()
	last, alive, settled := time.Now(), false, false
	c.progress.request()
	for {
		select {
		case b, ok := <-batches:
			if !ok {
				if err := reason(); err != nil {
					return err
				}
				return errStalled
			}
			last = time.Now()
			c.writer.apply(b, last)
			if !alive {
				alive = true
				c.setTrouble(nil)
			}
			if !settled && c.becomeReady() {
				settled = true
				ticker.Reset(tick)
			}
		case <-ticker.C:
			if time.Since(last) > staleAfter {
				return errStalled
			}
			c.writer.sweep(time.Now())
			c.progress.request()
		}
	}
}

// becomeReady reports whether the cache is ready.
func (c *Cache[T]) becomeReady() bool {
	if c.progress.rev.Load() < c.loader.target {
		return false
	}
	select {
	case <-c.ready:
	default:
		close(c.ready)
	}
	return true
}
