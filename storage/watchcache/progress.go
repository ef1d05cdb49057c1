package watchcache

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

const (
	// waitPatience is how long a waiter trusts that events will come by
	// themselves before it asks the store for progress, and how long it waits
	// between asking.
	waitPatience = 5 * time.Millisecond
	waitAgain    = 50 * time.Millisecond
	// progressPace is the least time between two requests for progress.
	progressPace = 10 * time.Millisecond
)

// progress is how far the cache has come, and those who wait for it to come
// further. Only the writer moves rev; nothing here needs a lock.
type progress struct {
	store   progressReporter
	onError func(error)

	rev   atomic.Int64 // G: everything up to here is in all buckets
	moved broadcast    // rev has changed
	ask   chan struct{}
}

// progressReporter is what progress needs of a storage.Watcher.
type progressReporter interface {
	// RequestProgress is that of storage.Watcher.
	RequestProgress(ctx context.Context) error
}

// wait is [Cache.Wait].
func (p *progress) wait(ctx context.Context, rev int64) error {
	if p.rev.Load() >= rev {
		return nil
	}
	patience := time.NewTimer(waitPatience)
	defer patience.Stop()
	for {
		moved := p.moved.wait()
		if p.rev.Load() >= rev {
			return nil
		}
		select {
		case <-moved:
		case <-patience.C:
			p.request()
			patience.Reset(waitAgain)
		case <-ctx.Done():
			return &storage.Error{Kind: storage.FutureRevision, Revision: rev, Cause: ctx.Err()}
		}
	}
}

// request has pass ask the store for progress, unless it is about to.
func (p *progress) request() {
	select {
	case p.ask <- struct{}{}:
	default:
	}
}

// pass turns the requests of all waiters into few to the store.
func (p *progress) pass(ctx context.Context) {
	for {
		select {
		case <-p.ask:
		case <-ctx.Done():
			return
		}
		if err := p.store.RequestProgress(ctx); err != nil && ctx.Err() == nil {
			p.onError(err)
		}
		select {
		case <-time.After(progressPace):
		case <-ctx.Done():
			return
		}
	}
}
