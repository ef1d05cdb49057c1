package watchcache

import (
	"container/heap"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// An offer waits for its event, which the store sends within milliseconds.
	// While the store's watch is held up, offers above these bounds are
	// forgotten: their items are made from the events.
	maxOffers     = 4096
	maxOfferBytes = 64 << 20
	maxOfferAge   = 30 * time.Second
)

// offer is an item whose maker has committed it to the store.
type offer[T any] struct {
	key      string // the store's
	revision int64
	item     T
	size     int64
	made     time.Time
}

// offers holds what was committed but whose event has not come yet, by
// revision. Events come in the order of revisions, so whatever is at or below
// one that came will not be asked for again: nothing stays.
type offers[T any] struct {
	keys     *keys
	buckets  *buckets[T]
	progress *progress
	takeOver func(made, offered T) // Adopt of [Options]; may be nil

	count atomic.Int64 // of queue; spares the lock while there is none

	mu    sync.Mutex // guards the fields below
	queue offerQueue[T]
	bytes int64
}

// add keeps o if there is room for it.
func (q *offers[T]) add(o offer[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) >= maxOffers || q.bytes+o.size > maxOfferBytes {
		return
	}
	heap.Push(&q.queue, o)
	q.bytes += o.size
	q.count.Store(int64(len(q.queue)))
}

// take removes and returns all offers up to rev.
func (q *offers[T]) take(rev int64) []offer[T] {
	if q.count.Load() == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var taken []offer[T]
	for len(q.queue) > 0 && q.queue[0].revision <= rev {
		o := heap.Pop(&q.queue).(offer[T])
		q.bytes -= o.size
		taken = append(taken, o)
	}
	q.count.Store(int64(len(q.queue)))
	return taken
}

// expire forgets all offers made before t.
func (q *offers[T]) expire(t time.Time) {
	if q.count.Load() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := offerQueue[T]{}
	q.bytes = 0
	for _, o := range q.queue {
		if !o.made.Before(t) {
			kept = append(kept, o)
			q.bytes += o.size
		}
	}
	heap.Init(&kept)
	q.queue = kept
	q.count.Store(int64(len(kept)))
}

// offerQueue is a heap by revision.
type offerQueue[T any] []offer[T]

func (q offerQueue[T]) Len() int           { return len(q) }
func (q offerQueue[T]) Less(i, j int) bool { return q[i].revision < q[j].revision }
func (q offerQueue[T]) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *offerQueue[T]) Push(x any) { *q = append(*q, x.(offer[T])) }

// Pop implements heap.Interface.
func (q *offerQueue[T]) Pop() any {
	old := *q
	last := len(old) - 1
	o := old[last]
	old[last] = offer[T]{} // the array must not keep the item alive
	*q = old[:last]
	return o
}

// Committed hands over the item of a write that the store has acknowledged:
// key is the whole key as the store has it, revision the one the store gave to
// the write, item what [Options.Make] would make of the written value, or for
// a deletion what [Options.Tombstone] would, with all that the writer has
// derived already. Item must not be changed afterwards in any way that Make's
// items are not.
//
// The item becomes visible when the store's event of that revision arrives,
// not before, and then takes the place of the one that Make would make. If the
// event came first, [Options.Adopt] may take over what was derived. An item
// that is of no use is forgotten; calling is never required.
func (c *Cache[T]) Committed(key string, revision int64, item T) {
	c.offers.commit(offer[T]{key: key, revision: revision, item: item, size: int64(c.o.SizeOf(item)), made: time.Now()})
}

// commit keeps o until its event comes, or deals with it if that is there.
func (q *offers[T]) commit(o offer[T]) {
	if q.progress.rev.Load() >= o.revision {
		q.adopt(o)
		return
	}
	q.add(o)
	// The event may have been applied meanwhile, and the writer may have looked
	// before the offer was there: one of the two sees the other.
	q.resolve()
}

// resolve deals with the offers whose events were applied without them.
func (q *offers[T]) resolve() {
	for _, o := range q.take(q.progress.rev.Load()) {
		q.adopt(o)
	}
}

// adopt adds what a late offer's maker derived to the item that was made of
// the event, if that is still the present one.
func (q *offers[T]) adopt(o offer[T]) {
	name, key, ok := q.keys.locate(o.key)
	if !ok || q.takeOver == nil {
		return
	}
	b := q.buckets.present()[name]
	if b == nil {
		return
	}
	if it := b.state.Load().root.get(key); it != nil && it.Revision == o.revision {
		q.takeOver(it.Value, o.item)
	}
}

// of takes the offers for the events of rev, which are being applied.
func (q *offers[T]) of(rev int64) []offer[T] {
	taken := q.take(rev)
	for len(taken) > 0 && taken[0].revision < rev {
		q.adopt(taken[0])
		taken = taken[1:]
	}
	return taken
}

// find returns the item that was offered for a key, among those of one
// revision.
func find[T any](offered []offer[T], key string) (item T, ok bool) {
	for _, o := range offered {
		if o.key == key {
			return o.item, true
		}
	}
	return item, false
}
