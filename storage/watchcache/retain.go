package watchcache

import (
	"maps"
	"time"
	"weak"
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

// cost is what an event holds that nobody else does: the item that it
// superseded.
func (c *Cache[T]) cost(e *entry[T]) int64 {
	if e.prev == nil {
		return eventBytes
	}
	return eventBytes + int64(c.o.SizeOf(e.prev.Value))
}

// share is how much a bucket's events may hold, however much others' do.
func (b *Bucket[T]) share() int64 {
	return max(b.cache.o.HistoryBytes/sharesOfAll, b.live.Load()/2)
}

// limit drops a bucket's oldest events as far as they are too old or too many.
// The chunk that is being filled stays: those who are awake follow in it.
func (c *Cache[T]) limit(b *Bucket[T], now time.Time) {
	b.trim(func(oldest *chunk[T]) bool {
		return now.Sub(oldest.latest) > c.o.Keep ||
			b.total-int(oldest.n.Load()) >= c.o.History ||
			b.bytes > b.share()
	})
}

// relieve drops the oldest events of whichever bucket's hold most, as long as all
// together hold too much.
func relieve[T any](c *Cache[T]) {
	for c.held.Load() > c.o.HistoryBytes {
		var most *Bucket[T]
		for _, b := range *c.buckets.Load() {
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

// sweep is the part of keeping to the bounds that does not wait for events.
func (c *Cache[T]) sweep(now time.Time) {
	c.offers.expire(now.Add(-maxOfferAge))
	for _, b := range *c.buckets.Load() {
		c.shed(b, now)
		b.rotate(now, c.o.Keep, c.held.Load() > c.o.HistoryBytes)
		c.limit(b, now)
	}
	relieve(c)
	for _, b := range *c.buckets.Load() {
		b.forget()
	}
	c.rest()
}

// shed gives up what superseded items have derived, and counts what remains.
func (c *Cache[T]) shed(b *Bucket[T], now time.Time) {
	for _, ch := range b.ring.Load().chunks {
		if ch.n.Load() == 0 || now.Sub(ch.latest) < shedAfter || now.Sub(ch.shed) < shedAfter {
			continue
		}
		ch.shed = now
		before := ch.bytes
		ch.bytes = 0
		for i, es := 0, ch.filled(); i < len(es); i++ {
			if es[i].prev != nil {
				c.o.Shed(es[i].prev.Value)
			}
			ch.bytes += c.cost(&es[i])
		}
		b.bytes += ch.bytes - before
		c.held.Add(ch.bytes - before)
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
		b.cache.held.Add(-c.bytes)
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

// rest is a bucket that has neither items nor events, such as that of a
// resource that is gone. Whoever still holds it finds it in order, since it
// comes back with the first event; when nobody does it goes.
type rest[T any] struct {
	bucket  weak.Pointer[Bucket[T]]
	horizon int64 // the revision of the last event it had
}

// rest lays empty buckets to rest and forgets those that nobody holds.
func (c *Cache[T]) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, r := range c.resting {
		if r.bucket.Value() == nil {
			delete(c.resting, name)
			c.base = max(c.base, r.horizon)
		}
	}
	all := *c.buckets.Load()
	var left map[string]*Bucket[T]
	for name, b := range all {
		if b.pending != nil || b.total > 0 {
			continue
		}
		if left == nil {
			left = maps.Clone(all)
		}
		delete(left, name)
		c.resting[name] = rest[T]{bucket: weak.Make(b), horizon: b.ring.Load().horizon}
	}
	if left != nil {
		c.buckets.Store(&left)
	}
}

// wakeLocked returns the resting bucket of the name, which rests no more, or
// nil. Whoever calls it holds mu.
func (c *Cache[T]) wakeLocked(name string) *Bucket[T] {
	r, ok := c.resting[name]
	if !ok {
		return nil
	}
	delete(c.resting, name)
	b := r.bucket.Value()
	if b == nil {
		c.base = max(c.base, r.horizon)
	}
	return b
}
