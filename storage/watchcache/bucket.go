package watchcache

import (
	"sync/atomic"
	"time"
)

// memoSlots is how many rebuilt past states a bucket remembers.
const memoSlots = 32

// Bucket is one part of the cache: the keys that BucketOf gave its name. Its
// methods are safe for concurrent use and never block.
type Bucket[T any] struct {
	name       string
	progress   *progress
	compaction *compaction
	history    *history[T]
	state      atomic.Pointer[state[T]]
	ring       atomic.Pointer[ring[T]]
	wake       broadcast
	// memo holds past states by sequence number modulo its length. The pages
	// of one list ask for the same one again and again.
	memo [memoSlots]atomic.Pointer[memo[T]]

	// What follows is the writer's alone.
	pending *node[T] // the state that the next publish makes visible
	latest  int64    // the revision of the last appended event
	dirty   bool     // the bucket has events since it last woke its watchers
	bytes   int64
	total   int // events in the ring

	// live is what the items of pending cost at least, and received how many events there
	// were. The writer changes them, and others read them.
	live, received atomic.Int64
}

type memo[T any] struct {
	seq   int64
	state *state[T]
}

// install makes s the state and starts an empty ring after it. A first above
// the old end makes every cursor's position one that the ring does not hold.
func (b *Bucket[T]) install(first int64, s *state[T]) {
	b.history.held.Add(-b.bytes)
	b.pending, b.bytes, b.total = s.root, 0, 0
	live := int64(0)
	s.root.ascend("", "", func(it *Item[T]) bool {
		live += int64(b.history.leastOf(it.Value))
		return true
	})
	b.live.Store(live)
	for i := range b.memo {
		b.memo[i].Store(nil)
	}
	b.ring.Store(newRing(first, s))
	b.state.Store(s)
}

// reset replaces the bucket's content without knowing how it came about.
// Watchers get Expired.
func (b *Bucket[T]) reset(s *state[T]) {
	b.install(b.ring.Load().end()+1, s)
	b.wake.notify()
}

// Name returns the bucket's name.
func (b *Bucket[T]) Name() string { return b.name }

// Bytes is about how much memory what there is takes at least.
func (b *Bucket[T]) Bytes() int64 { return b.live.Load() }

// Received is how many events there were since the process began.
func (b *Bucket[T]) Received() int64 { return b.received.Load() }

// Snapshot returns the present state.
func (b *Bucket[T]) Snapshot() Snapshot[T] {
	rev := b.progress.rev.Load() // before the state: see the package documentation
	s := b.state.Load()
	return Snapshot[T]{rev: max(rev, s.rev), root: s.root}
}

// Latest returns the revision of the bucket's last change, or that of its load.
func (b *Bucket[T]) Latest() int64 { return b.state.Load().rev }

// At returns the state at exactly rev, and false when rev has not been reached
// or is no longer, or was never, held.
func (b *Bucket[T]) At(rev int64) (Snapshot[T], bool) {
	reached := b.progress.rev.Load()
	s := b.state.Load()
	if rev > max(reached, s.rev) || rev < b.compaction.rev.Load() {
		return Snapshot[T]{}, false
	}
	if rev >= s.rev {
		return Snapshot[T]{rev: rev, root: s.root}, true
	}
	r := b.ring.Load()
	if rev < r.horizon {
		return Snapshot[T]{}, false
	}
	seq := r.after(rev)
	slot := &b.memo[seq%memoSlots]
	if m := slot.Load(); m != nil && m.seq == seq {
		return Snapshot[T]{rev: rev, root: m.state.root}, true
	}
	past := r.stateBefore(seq)
	slot.Store(&memo[T]{seq: seq, state: past})
	return Snapshot[T]{rev: rev, root: past.root}, true
}

// Watch returns a cursor over the events after revision from, which may lie in
// the future. It fails with [Expired] when the history no longer reaches back
// to from.
func (b *Bucket[T]) Watch(from int64) (*Cursor[T], error) {
	r := b.ring.Load()
	if from < r.horizon {
		return nil, &Expired{From: from, Oldest: r.horizon}
	}
	return &Cursor[T]{bucket: b, seq: r.after(from), from: from, seen: from}, nil
}

// append adds an event to the ring. Only the writer calls it.
func (b *Bucket[T]) append(e entry[T], size int64, now time.Time) {
	r := b.ring.Load()
	c := r.last()
	if c.n.Load() == int64(len(c.entries)) || c.bytes > max(b.history.mostBytes/chunksOfAll, smallChunk) {
		c = b.newChunk(r, min(2*len(c.entries), maxChunk))
	}
	n := c.n.Load()
	if n == 0 {
		c.opened = now
	}
	c.latest = now
	c.entries[n] = e
	c.bytes += size
	b.bytes += size
	b.history.held.Add(size)
	b.total++
	if e.prev != nil {
		b.live.Add(-int64(b.history.leastOf(e.prev.Value)))
	}
	if e.typ != Deleted {
		b.live.Add(int64(b.history.leastOf(e.item.Value)))
	}
	b.received.Add(1)
	b.pending = e.applyTo(b.pending)
	c.n.Store(n + 1)
}

// newChunk ends the chunk being filled, which has events, and starts another
// after it.
func (b *Bucket[T]) newChunk(r *ring[T], size int) *chunk[T] {
	c := r.last()
	n := c.n.Load()
	next := newChunk(c.first+n, &state[T]{rev: c.entries[n-1].item.Revision, root: b.pending}, size)
	chunks := make([]*chunk[T], 0, len(r.chunks)+1)
	b.ring.Store(&ring[T]{chunks: append(append(chunks, r.chunks...), next), horizon: r.horizon})
	return next
}

// publish makes the appended events' outcome the present state.
func (b *Bucket[T]) publish(rev int64) {
	b.state.Store(&state[T]{rev: rev, root: b.pending})
}
