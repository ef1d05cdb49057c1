package watchcache

import (
	"sort"
	"sync/atomic"
	"time"
)

const (
	firstChunk = 16
	// maxChunk bounds both what is dropped at once and how many events are
	// applied again to rebuild a past state.
	maxChunk = 128
)

// entry is one event. Its revision is that of item.
type entry[T any] struct {
	item *Item[T]
	prev *Item[T] // nil for Added
	typ  EventType
}

func (e *entry[T]) event() Event[T] {
	ev := Event[T]{Type: e.typ, Item: *e.item}
	if e.prev != nil {
		ev.Prev, ev.HasPrev = e.prev.Value, true
	}
	return ev
}

// applyTo returns the state after the event.
func (e *entry[T]) applyTo(root *node[T]) *node[T] {
	if e.typ == Deleted {
		return root.without(e.item.Key)
	}
	return root.with(e.item)
}

// chunk is a run of consecutive events. The writer fills it; readers see the
// first n entries, which never change again.
type chunk[T any] struct {
	first   int64     // sequence number of entries[0]
	start   *state[T] // the bucket before entries[0]
	entries []entry[T]
	n       atomic.Int64
	// opened and latest are when the first and the last entry were written,
	// shed when what superseded items had derived was last given up, bytes what
	// the entries hold. All are the writer's.
	opened, latest, shed time.Time
	bytes                int64
}

func newChunk[T any](first int64, start *state[T], size int) *chunk[T] {
	return &chunk[T]{first: first, start: start, entries: make([]entry[T], size)}
}

// filled returns the entries that readers may see.
func (c *chunk[T]) filled() []entry[T] { return c.entries[:c.n.Load()] }

// ring is the events that a bucket still holds: a list of chunks, of which
// only the last is being filled. It is replaced, never changed.
type ring[T any] struct {
	chunks []*chunk[T] // at least one
	// horizon is the revision that the ring reaches back to: it holds all the
	// bucket's events after it, and chunks[0].start is the state at it.
	horizon int64
}

func newRing[T any](first int64, start *state[T]) *ring[T] {
	return &ring[T]{chunks: []*chunk[T]{newChunk(first, start, firstChunk)}, horizon: start.rev}
}

// last returns the chunk that is being filled.
func (r *ring[T]) last() *chunk[T] { return r.chunks[len(r.chunks)-1] }

// first and end bound the sequence numbers that the ring holds.
func (r *ring[T]) first() int64 { return r.chunks[0].first }

func (r *ring[T]) end() int64 {
	return r.last().first + r.last().n.Load()
}

// chunkOf returns the chunk of a sequence number from first to end.
func (r *ring[T]) chunkOf(seq int64) *chunk[T] {
	i := sort.Search(len(r.chunks), func(i int) bool { return r.chunks[i].first > seq })
	return r.chunks[i-1]
}

// revisionOf returns the revision of the event seq, which the ring holds.
func (r *ring[T]) revisionOf(seq int64) int64 {
	c := r.chunkOf(seq)
	return c.entries[seq-c.first].item.Revision
}

// after returns the sequence number of the first event with a revision above
// rev, or the end.
func (r *ring[T]) after(rev int64) int64 {
	i := sort.Search(len(r.chunks), func(i int) bool {
		es := r.chunks[i].filled()
		return len(es) == 0 || es[0].item.Revision > rev
	})
	if i == 0 {
		return r.first()
	}
	c := r.chunks[i-1]
	es := c.filled()
	return c.first + int64(sort.Search(len(es), func(i int) bool { return es[i].item.Revision > rev }))
}

// stateBefore returns the bucket's state before the event seq.
func (r *ring[T]) stateBefore(seq int64) *state[T] {
	c := r.chunkOf(seq)
	if seq == c.first {
		return c.start
	}
	s := &state[T]{rev: c.entries[seq-1-c.first].item.Revision, root: c.start.root}
	for i := range c.entries[:seq-c.first] {
		s.root = c.entries[i].applyTo(s.root)
	}
	return s
}
