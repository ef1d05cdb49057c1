package watchcache

import (
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// writer makes of the store's events what readers see, in the order that the
// package documentation tells. One goroutine uses it, and so it has no lock.
type writer[T any] struct {
	keys      *keys
	makeItem  func(kv storage.KV) T // Make of [Options]
	tombstone func(last T, revision int64) T

	progress *progress
	history  *history[T]
	buckets  *buckets[T]
	offers   *offers[T]

	changed []*Bucket[T] // by the revision being applied
	touched []*Bucket[T] // by the batch being applied
}

// apply takes a batch over, revision by revision, and then wakes whoever
// waits.
func (w *writer[T]) apply(batch storage.Batch, now time.Time) {
	w.touched = w.touched[:0]
	events := batch.Events
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].Revision == events[0].Revision {
			n++
		}
		// A watch that was resumed may repeat what is already in.
		if events[0].Revision > w.progress.rev.Load() {
			w.applyRevision(events[:n], now)
		}
		events = events[n:]
	}
	w.progress.rev.Store(max(w.progress.rev.Load(), batch.Revision))
	for _, b := range w.touched {
		b.dirty = false
		w.history.limit(b, now)
		b.wake.notify()
	}
	w.history.relieve(w.buckets.present())
	w.progress.moved.notify()
	w.offers.resolve()
}

// applyRevision takes all events of one revision over and publishes their
// outcome: buckets first, the cache's revision last.
func (w *writer[T]) applyRevision(events []storage.Event, now time.Time) {
	rev := events[0].Revision
	w.changed = w.changed[:0]
	offered := w.offers.of(rev)
	for _, ev := range events {
		b := w.applyEvent(ev, offered, now)
		if b == nil {
			continue
		}
		if b.latest != rev {
			b.latest = rev
			w.changed = append(w.changed, b)
		}
		if !b.dirty {
			b.dirty = true
			w.touched = append(w.touched, b)
		}
	}
	for _, b := range w.changed {
		b.publish(rev)
	}
	w.progress.rev.Store(rev)
}

// applyEvent appends one event to its bucket's ring and returns the bucket,
// nil when the event changes nothing here.
func (w *writer[T]) applyEvent(ev storage.Event, offered []offer[T], now time.Time) *Bucket[T] {
	name, key, ok := w.keys.locate(ev.Key)
	if !ok {
		return nil
	}
	b := w.buckets.get(name)
	e := entry[T]{prev: b.pending.get(key), typ: Modified}
	switch {
	case ev.Deleted && e.prev == nil:
		return nil
	case ev.Deleted:
		e.typ = Deleted
		e.item = &Item[T]{Key: e.prev.Key, Revision: ev.Revision}
		if e.item.Value, ok = find(offered, ev.Key); !ok {
			e.item.Value = w.tombstone(e.prev.Value, ev.Revision)
		}
	default:
		if e.prev == nil {
			e.typ = Added
		} else {
			key = e.prev.Key // one text for all states, and not that of each event
		}
		e.item = &Item[T]{Key: key, Revision: ev.Revision}
		if e.item.Value, ok = find(offered, ev.Key); !ok {
			e.item.Value = w.makeItem(ev.KV)
		}
	}
	b.append(e, w.history.cost(&e), now)
	return b
}

// sweep is the part of keeping to the bounds that does not wait for events.
func (w *writer[T]) sweep(now time.Time) {
	w.offers.expire(now.Add(-maxOfferAge))
	for _, b := range w.buckets.present() {
		w.history.sweep(b, now)
	}
	w.history.relieve(w.buckets.present())
	for _, b := range w.buckets.present() {
		b.forget()
	}
	w.buckets.rest()
}
