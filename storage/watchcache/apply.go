package watchcache

import (
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// locate splits a full key into its bucket's name and the key in there; ok is
// false for keys that are ignored.
func (c *Cache[T]) locate(full string) (name, key string, ok bool) {
	rest, ok := strings.CutPrefix(full, c.o.Prefix)
	if !ok {
		return "", "", false
	}
	name = c.o.BucketOf(rest)
	if name == "" || len(rest) < len(name)+2 || rest[:len(name)] != name || rest[len(name)] != '/' {
		return "", "", false
	}
	return name, rest[len(name)+1:], true
}

// apply takes a batch over, revision by revision, and then wakes whoever
// waits.
func (c *Cache[T]) apply(batch storage.Batch, now time.Time) {
	c.touched = c.touched[:0]
	events := batch.Events
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].Revision == events[0].Revision {
			n++
		}
		// A watch that was resumed may repeat what is already in.
		if events[0].Revision > c.rev.Load() {
			c.applyRevision(events[:n], now)
		}
		events = events[n:]
	}
	c.rev.Store(max(c.rev.Load(), batch.Revision))
	for _, b := range c.touched {
		b.dirty = false
		c.limit(b, now)
		b.wake.notify()
	}
	relieve(c)
	c.moved.notify()
	c.resolveOffers()
}

// applyRevision takes all events of one revision over and publishes their
// outcome: buckets first, the cache's revision last.
func (c *Cache[T]) applyRevision(events []storage.Event, now time.Time) {
	rev := events[0].Revision
	c.changed = c.changed[:0]
	offered := c.offered(rev)
	for _, ev := range events {
		b := c.applyEvent(ev, offered, now)
		if b == nil {
			continue
		}
		if b.latest != rev {
			b.latest = rev
			c.changed = append(c.changed, b)
		}
		if !b.dirty {
			b.dirty = true
			c.touched = append(c.touched, b)
		}
	}
	for _, b := range c.changed {
		b.publish(rev)
	}
	c.rev.Store(rev)
}

// applyEvent appends one event to its bucket's ring and returns the bucket,
// nil when the event changes nothing here.
func (c *Cache[T]) applyEvent(ev storage.Event, offered []offer[T], now time.Time) *Bucket[T] {
	name, key, ok := c.locate(ev.Key)
	if !ok {
		return nil
	}
	b := c.Bucket(name)
	e := entry[T]{prev: b.pending.get(key), typ: Modified}
	switch {
	case ev.Deleted && e.prev == nil:
		return nil
	case ev.Deleted:
		e.typ = Deleted
		e.item = &Item[T]{Key: e.prev.Key, Revision: ev.Revision}
		if e.item.Value, ok = find(offered, ev.Key); !ok {
			e.item.Value = c.o.Tombstone(e.prev.Value, ev.Revision)
		}
	default:
		if e.prev == nil {
			e.typ = Added
		} else {
			key = e.prev.Key // one text for all states, and not that of each event
		}
		e.item = &Item[T]{Key: key, Revision: ev.Revision}
		if e.item.Value, ok = find(offered, ev.Key); !ok {
			e.item.Value = c.o.Make(ev.KV)
		}
	}
	b.append(e, c.cost(&e), now)
	return b
}
