package watchcache

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wasmgate/wasmgate/storage"
)

const (
	// sectionSpan is how many revisions one watch replays. etcd hands a watch
	// that starts in the past at most 1,000 revisions each 100 ms, but serves
	// many watches at once: so the past is read in sections side by side.
	sectionSpan   = 1000
	maxSections   = 64
	replayTimeout = 10 * time.Second
)

// replay applies what happened after the revision from, up to to, which is
// later. Nothing is applied when it fails.
func (l *loader[T]) replay(ctx context.Context, from, to int64) error {
	ctx, cancel := context.WithTimeout(ctx, replayTimeout)
	defer cancel()
	span := max(sectionSpan, (to-from+maxSections-1)/maxSections)
	sections := make([]storage.Batch, (to-from+span-1)/span)
	group, ctx := errgroup.WithContext(ctx)
	for i := range sections {
		start := from + int64(i)*span
		sections[i].Revision = min(start+span, to)
		group.Go(func() error { return l.section(ctx, start+1, &sections[i]) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	now := time.Now()
	for _, batch := range sections {
		l.writer.apply(batch, now)
	}
	return nil
}

// section collects the events from a revision up to that of batch.
func (l *loader[T]) section(ctx context.Context, from int64, batch *storage.Batch) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ticker := time.NewTicker(startTick)
	defer ticker.Stop()
	batches, reason := l.store.Watch(ctx, l.keys.prefix, from)
	for {
		select {
		case b, ok := <-batches:
			if !ok {
				return reason()
			}
			for _, ev := range b.Events {
				if ev.Revision <= batch.Revision {
					batch.Events = append(batch.Events, ev)
				}
			}
			if b.Revision >= batch.Revision {
				return nil
			}
		case <-ticker.C:
			l.progress.request()
		}
	}
}
