package watchcache

import "context"

// Cursor is a watcher's place in a bucket's events. It costs the cache nothing
// while it is not used and needs no closing. One goroutine uses it at a time.
type Cursor[T any] struct {
	bucket *Bucket[T]
	seq    int64 // the next event to deliver
	from   int64 // events up to this revision are not wanted
	seen   int64 // the revision of the last delivered event, or from
}

// TryNext returns up to max events that have happened since the last call, in
// order; none if nothing has. Events of a revision come once all of them are
// there. It fails with [Expired] when the cursor has
// fallen behind what the cache holds, or the cache lost track of the store;
// the cursor is of no use then.
func (c *Cursor[T]) TryNext(max int) ([]Event[T], error) {
	return c.AppendNext(nil, max)
}

// AppendNext is [Cursor.TryNext] appending to dst, for callers that reuse
// their memory.
func (c *Cursor[T]) AppendNext(dst []Event[T], max int) ([]Event[T], error) {
	reached := c.bucket.progress.rev.Load() // before the ring, as for snapshots
	r := c.bucket.ring.Load()
	if c.seq < r.first() {
		return dst, c.expired(r)
	}
	end := r.end()
	for max > 0 && c.seq < end {
		ch := r.chunkOf(c.seq)
		es := ch.filled()
		for i := c.seq - ch.first; i < int64(len(es)) && max > 0; i++ {
			rev := es[i].item.Revision
			if rev > reached {
				return dst, nil
			}
			c.seq++
			if rev > c.from {
				dst = append(dst, es[i].event())
				c.seen = rev
				max--
			}
		}
	}
	return dst, nil
}

func (c *Cursor[T]) expired(r *ring[T]) error {
	return &Expired{From: c.seen, Oldest: r.horizon}
}

// Wait returns a channel that is closed once TryNext has something to say,
// which may be an error. Take a new channel for each wait.
func (c *Cursor[T]) Wait() <-chan struct{} {
	ch := c.bucket.wake.wait()
	if c.pending() {
		return closed
	}
	return ch
}

// Expired reports whether the cursor has fallen behind what the cache holds.
func (c *Cursor[T]) Expired() bool { return c.seq < c.bucket.ring.Load().first() }

func (c *Cursor[T]) pending() bool {
	reached := c.bucket.progress.rev.Load()
	r := c.bucket.ring.Load()
	if c.seq < r.first() {
		return true
	}
	return c.seq < r.end() && r.revisionOf(c.seq) <= reached
}

// Next waits until there are events and returns up to max of them, with the
// revision up to which the cursor has now delivered everything. It fails as
// TryNext does, and with ctx's error when ctx ends first.
func (c *Cursor[T]) Next(ctx context.Context, max int) ([]Event[T], int64, error) {
	for {
		ready := c.Wait()
		events, err := c.TryNext(max)
		if err != nil || len(events) > 0 {
			return events, c.Revision(), err
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return nil, c.Revision(), ctx.Err()
		}
	}
}

// Revision returns the revision up to which everything has been delivered:
// what a bookmark may say. While events are waiting it stays below the first
// of them.
func (c *Cursor[T]) Revision() int64 {
	reached := c.bucket.progress.rev.Load() // before the ring, as for snapshots
	r := c.bucket.ring.Load()
	if c.seq < r.first() {
		return c.seen
	}
	if c.seq == r.end() {
		return max(reached, c.seen)
	}
	return max(c.from, r.revisionOf(c.seq)-1)
}
