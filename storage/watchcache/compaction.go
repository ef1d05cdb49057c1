package watchcache

import (
	"context"
	"sync/atomic"
	"time"
)

// compaction follows what the store has dropped.
type compaction struct {
	store   compacter
	onError func(error)

	rev atomic.Int64 // states below are no longer served
}

// compacter is what compaction needs of a storage.Reader.
type compacter interface {
	// CompactedRevision is that of storage.Reader.
	CompactedRevision(ctx context.Context) (int64, error)
}

// look asks the store.
func (c *compaction) look(ctx context.Context) (int64, error) {
	rev, err := c.store.CompactedRevision(ctx)
	if err != nil {
		return 0, err
	}
	c.rev.Store(rev)
	return rev, nil
}

// follow keeps exact past states from being served for longer than the store
// itself serves them.
func (c *compaction) follow(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if _, err := c.look(ctx); err != nil && ctx.Err() == nil {
			c.onError(err)
		}
	}
}
