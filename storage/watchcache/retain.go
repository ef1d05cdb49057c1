package watchcache

import (
	"sync/atomic"
	"time"
)

const (
	// eventBytes is about what an event costs besides the item it supersedes.
	eventBytes = 256
	// shedAfter is how long after an event what was derived of the item it
	// superseded is kept for slow watchers, and how long before that is looked
	// at again.
	shedAfter = time.Minute
	// sharesOfAll is which part of all history a bucket may have at least.
	sharesOfAll = 4
	// chunksOfAll is after which part of it a chunk is ended, unless it is small:
	// events are dropped by chunks.
	chunksOfAll = 64
	smallChunk  = 64 << 10
)

// history is what the events of all buckets hold together, and how much they
// may. Only the writer changes what it counts.
type history[T any] struct {
	// What follows is as in [Options]: keep, most and mostBytes are Keep, History
	// and HistoryBytes there.
	keep            time.Duration
	most            int
	mostBytes       int64
	sizeOf, leastOf func(T) int
	giveUp          func(T) // Shed

	held atomic.Int64 // bytes that kept events hold
}

func newHistory[T any](o *Options[T]) history[T] {
	return history[T]{keep: o.Keep, most: o.History, mostBytes: o.HistoryBytes, sizeOf: o.SizeOf, leastOf: o.LeastOf, giveUp: o.Shed}
}

// cost is what an event holds that nobody else does: the item that it
// superseded.
func (h *history[T]) cost(e *entry[T]) int64 {
	if e.prev == nil {
		return eventBytes
	}
	return eventBytes + int64(h.sizeOf(e.prev.Value))
}

// share is how much a bucket's events may hold, however much others' do.
func (b *Bucket[T]) share() int64 {
	return max(b.history.mostBytes/sharesOfAll, b.live.Load()/2)
}

// limit drops a bucket's oldest events as far as they are too old or too many.
// The chunk that is being filled stays: those who are awake follow in it.
func (h *history[T]) limit(b *Bucket[T], now time.Time) {
	b.trim(func(oldest *chunk[T]) bool {
		return now.Sub(oldest.latest) > h.keep ||
			b.total-int(oldest.n.Load()) >= h.most ||
			b.bytes > b.share()
	})
}

// relieve drops the oldest events of whichever bucket's hold most, as long as all
// together hold too much.
func (h *history[T]) relieve(all map[string]*Bucket[T]) {
	for h.held.Load() > h.mostBytes {
		var most *Bucket[T]
		for _, b := range all {
			if len(b.ring.Load().chunks) > 1 && (most == nil || b.bytes > most.bytes) {
				most = b
			}
		}
		if most == nil {
			return
		}
		first := most.ring.Load().chunks[0]
		most.trim(func(oldest *chunk[T]) bool { return oldest == first })
	}
}

// sweep is the part of keeping a bucket to the bounds that does not wait for
// events.
func (h *history[T]) sweep(b *Bucket[T], now time.Time) {
	h.shed(b, now)
	b.rotate(now, h.keep, h.held.Load() > h.mostBytes)
	h.limit(b, now)
}

// shed gives up what superseded items have derived, and counts what remains.
func (h *history[T]) shed(b *Bucket[T], now time.Time) {
	for _, ch := range b.ring.Load().chunks {
		if ch.n.Load() == 0 || now.Sub(ch.latest) < shedAfter || now.Sub(ch.shed) < shedAfter {
			continue
		}
		ch.shed = now
		before := ch.bytes
		ch.bytes = 0
		for i, es := 0, ch.filled(); i < len(es); i++ {
			if es[i].prev != nil {
				h.giveUp(es[i].prev.Value)
			}
			ch.bytes += h.cost(&es[i])
		}
		b.bytes += ch.bytes - before
		h.held.Add(ch.bytes - before)
	}
}

// rotate ends the chunk that is being filled, so that it can grow old, if it
// was begun longer than keep ago; and, when memory is short, if it has been at
// rest for a while.
func (b *Bucket[T]) rotate(now time.Time, keep time.Duration, short bool) {
	r := b.ring.Load()
	c := r.last()
	if c.n.Load() > 0 && (now.Sub(c.opened) > keep || short && now.Sub(c.latest) > tick) {
		b.newChunk(r, firstChunk)
	}
}

// trim drops the oldest chunks while drop says so of one. The chunk that is
// being filled stays.
func (b *Bucket[T]) trim(drop func(oldest *chunk[T]) bool) {
	r := b.ring.Load()
	i := 0
	horizon := r.horizon
	for i < len(r.chunks)-1 && drop(r.chunks[i]) {
		c := r.chunks[i]
		n := c.n.Load()
		b.bytes -= c.bytes
		b.history.held.Add(-c.bytes)
		b.total -= int(n)
		horizon = c.entries[n-1].item.Revision
		i++
	}
	if i == 0 {
		return
	}
	b.ring.Store(&ring[T]{chunks: append([]*chunk[T](nil), r.chunks[i:]...), horizon: horizon})
}

// forget drops rebuilt states from before the events that are kept.
func (b *Bucket[T]) forget() {
	first := b.ring.Load().first()
	for i := range b.memo {
		if m := b.memo[i].Load(); m != nil && m.seq < first {
			b.memo[i].CompareAndSwap(m, nil)
		}
	}
}
