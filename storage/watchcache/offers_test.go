package watchcache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// doc is an item that remembers who made it and what was derived of it.
type doc struct {
	text    string
	rev     int64
	offered bool
	derived atomic.Pointer[string]
}

// committed is the item that a writer makes: it has something derived.
func committed(text string, rev int64) *doc {
	d := &doc{text: text, rev: rev, offered: true}
	view := "view of " + text
	d.derived.Store(&view)
	return d
}

func docOptions() Options[*doc] {
	return Options[*doc]{
		Prefix: options().Prefix, BucketOf: options().BucketOf,
		Make:      func(kv storage.KV) *doc { return &doc{text: string(kv.Value), rev: kv.Revision} },
		Tombstone: func(last *doc, rev int64) *doc { return &doc{text: last.text, rev: rev} },
		Adopt:     func(made, offered *doc) { made.derived.Store(offered.derived.Load()) },
	}
}

// at is a batch of one event.
func at(rev int64, ev storage.Event) storage.Batch {
	ev.Revision = rev
	return storage.Batch{Revision: rev, Events: []storage.Event{ev}}
}

func (q *offers[T]) held() (count int, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if int64(len(q.queue)) != q.count.Load() {
		return -1, q.bytes
	}
	return len(q.queue), q.bytes
}

// TestCommitted goes through the orders in which a write's hand-over and its
// event can arrive.
func TestCommitted(t *testing.T) {
	const key, full = "g/pods/ns/a", "/registry/g/pods/ns/a"
	var c *Cache[*doc]
	apply := func(rev int64, ev storage.Event) { c.writer.apply(at(rev, ev), time.Now()) }
	offer := func(rev int64, text string) { c.Committed(full, rev, committed(text, rev)) }
	for _, tc := range []struct {
		name  string
		steps func()
		want  string // text@revision, offered, derived
	}{
		{"before its event", func() { offer(5, "x"); apply(5, put(key, "x")) }, "x@5 true true"},
		{"after its event", func() { apply(5, put(key, "x")); offer(5, "x") }, "x@5 false true"},
		{"after a later event of another key", func() {
			apply(5, put(key, "x"))
			apply(6, put("g/pods/ns/b", "y"))
			offer(5, "x")
		}, "x@5 false true"},
		{"after a later event of its key", func() { apply(5, put(key, "x")); apply(6, put(key, "y")); offer(5, "x") }, "y@6 false false"},
		{"two, the later first", func() {
			offer(6, "y")
			offer(5, "x")
			apply(5, put(key, "x"))
			apply(6, put(key, "y"))
		}, "y@6 true true"},
		{"another key in its revision", func() { offer(5, "x"); apply(5, put("g/pods/ns/b", "y")); apply(6, put(key, "z")) }, "z@6 false false"},
		{"another revision of its key", func() { offer(5, "x"); apply(6, put(key, "z")) }, "z@6 false false"},
		{"without any event", func() { offer(5, "x") }, "none"},
		{"only progress", func() { offer(5, "x"); c.writer.apply(storage.Batch{Revision: 5}, time.Now()) }, "none"},
		{"a key that is ignored", func() {
			c.Committed("/registry/odd", 5, committed("x", 5))
			apply(6, put(key, "y"))
			c.Committed("/registry/odd", 6, committed("x", 6))
			c.Committed("/registry/no/such/bucket", 6, committed("x", 6))
			c.Committed("/registry/g/pods/no", 6, committed("x", 6))
		}, "y@6 false false"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c = New[*doc](nil, docOptions())
			tc.steps()
			got := "none"
			if it, ok := c.Bucket("g/pods").Snapshot().Get("ns/a"); ok {
				got = fmt.Sprintf("%s@%d %v %v", it.Value.text, it.Revision, it.Value.offered, it.Value.derived.Load() != nil)
				if it.Value.rev != it.Revision {
					t.Errorf("the item of revision %d is shown at %d", it.Value.rev, it.Revision)
				}
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			c.writer.apply(storage.Batch{Revision: 100}, time.Now())
			if n, bytes := c.offers.held(); n != 0 || bytes != 0 {
				t.Errorf("%d offers of %d bytes stay", n, bytes)
			}
		})
	}
}

func TestCommittedIsInvisibleBeforeItsEvent(t *testing.T) {
	c := New[*doc](nil, docOptions())
	b := c.Bucket("g/pods")
	c.writer.apply(at(4, put("g/pods/a", "old")), time.Now())
	cur, err := b.Watch(4)
	if err != nil {
		t.Fatal(err)
	}
	c.Committed("/registry/g/pods/a", 5, committed("new", 5))
	if it, _ := b.Snapshot().Get("a"); it.Value.text != "old" || b.Snapshot().Revision() != 4 {
		t.Errorf("shows %q at %d before the event", it.Value.text, b.Snapshot().Revision())
	}
	if events, err := cur.TryNext(10); len(events) != 0 || err != nil {
		t.Errorf("%d events, %v", len(events), err)
	}
	c.writer.apply(at(5, put("g/pods/a", "new")), time.Now())
	if events, err := cur.TryNext(10); err != nil || len(events) != 1 || !events[0].Item.Value.offered {
		t.Errorf("events %v, %v", events, err)
	}
}

func TestCommittedDeletion(t *testing.T) {
	for _, handOver := range []bool{true, false} {
		c := New[*doc](nil, docOptions())
		c.writer.apply(at(4, put("g/pods/a", "x")), time.Now())
		cur, err := c.Bucket("g/pods").Watch(4)
		if err != nil {
			t.Fatal(err)
		}
		if handOver {
			c.Committed("/registry/g/pods/a", 5, committed("x", 5))
		}
		c.writer.apply(at(5, del("g/pods/a")), time.Now())
		if !handOver {
			c.Committed("/registry/g/pods/a", 5, committed("x", 5)) // too late; nothing to adopt it
		}
		events, err := cur.TryNext(2)
		if err != nil || len(events) != 1 || events[0].Type != Deleted || events[0].Item.Value.offered != handOver {
			t.Errorf("handed over %v: events %+v, %v", handOver, events, err)
		}
	}
}

func TestCommittedNeedsNoAdopt(t *testing.T) {
	o := docOptions()
	o.Adopt = nil
	c := New[*doc](nil, o)
	c.writer.apply(at(5, put("g/pods/a", "x")), time.Now())
	c.Committed("/registry/g/pods/a", 5, committed("x", 5))
	if it, _ := c.Bucket("g/pods").Snapshot().Get("a"); it.Value.derived.Load() != nil {
		t.Error("adopted by nobody")
	}
}

func TestCommittedIsBounded(t *testing.T) {
	t.Run("number", func(t *testing.T) {
		c := New[*doc](nil, docOptions())
		for i := range int64(maxOffers + 10) {
			c.Committed("/registry/g/pods/a", i+2, committed("x", i+2))
		}
		if n, _ := c.offers.held(); n != maxOffers {
			t.Errorf("%d offers, want %d", n, maxOffers)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		o := docOptions()
		o.SizeOf = func(*doc) int { return maxOfferBytes / 4 }
		c := New[*doc](nil, o)
		for i := range int64(10) {
			c.Committed("/registry/g/pods/a", i+2, committed("x", i+2))
		}
		if n, bytes := c.offers.held(); n != 4 || bytes != maxOfferBytes {
			t.Errorf("%d offers of %d bytes", n, bytes)
		}
		c.writer.apply(at(3, put("g/pods/b", "y")), time.Now())
		if n, bytes := c.offers.held(); n != 2 || bytes != maxOfferBytes/2 {
			t.Errorf("after two are settled %d offers of %d bytes", n, bytes)
		}
	})
	t.Run("age", func(t *testing.T) {
		o := docOptions()
		o.SizeOf = func(*doc) int { return 7 }
		c := New[*doc](nil, o)
		now := time.Now()
		for i := range int64(4) {
			c.offers.add(offer[*doc]{key: "k", revision: 9 - i, size: 7, made: now.Add(time.Duration(i) * time.Second)})
		}
		c.writer.sweep(now.Add(maxOfferAge + 2*time.Second))
		if n, bytes := c.offers.held(); n != 2 || bytes != 14 {
			t.Errorf("%d offers of %d bytes", n, bytes)
		}
		if got := c.offers.take(6); len(got) != 1 || got[0].revision != 6 {
			t.Errorf("after the sweep, up to 6: %v", got)
		}
	})
}

// TestCommittedHammer has many writers hand over while the watch breaks, is
// compacted away and comes back: whatever the order, an item is shown at its
// own revision and never before its time, what was derived reaches every item
// that stays, and nothing is left behind.
func TestCommittedHammer(t *testing.T) {
	const writers, writes = 8, 400
	m := storagetest.NewMemory()
	c := New[*doc](m, docOptions())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	<-c.Ready()

	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() { commitMany(t, ctx, m, c, w, writes) })
	}
	reads, stop := context.WithCancel(ctx)
	for range 2 {
		reading.Go(func() {
			for reads.Err() == nil {
				s := c.Bucket("g/pods").Snapshot()
				s.Ascend("", "", func(it Item[*doc]) bool {
					if it.Value.rev != it.Revision || it.Revision > s.Revision() {
						t.Errorf("%s: item of %d shown at %d in a snapshot at %d", it.Key, it.Value.rev, it.Revision, s.Revision())
					}
					return true
				})
			}
		})
	}
	writing.Wait()
	stop()
	reading.Wait()
	if _, err := c.Fresh(ctx); err != nil {
		t.Fatal(err)
	}
	s := c.Bucket("g/pods").Snapshot()
	s.Ascend("", "", func(it Item[*doc]) bool {
		if p := it.Value.derived.Load(); p == nil || *p != "view of "+it.Value.text {
			t.Errorf("%s at %d (offered: %v) lost what its writer derived", it.Key, it.Revision, it.Value.offered)
		}
		return true
	})
	if n, _ := c.offers.held(); n != 0 || s.Len() == 0 {
		t.Errorf("%d offers left, %d items", n, s.Len())
	}
	cancel()
	<-done
}

// commitMany writes to keys of its own and hands over what it wrote.
func commitMany(t *testing.T, ctx context.Context, m *storagetest.Memory, c *Cache[*doc], w, writes int) {
	revs := map[string]int64{}
	for i := range writes {
		key := fmt.Sprintf("/registry/g/pods/%d-%d", w, rand.IntN(10))
		text := fmt.Sprintf("%d.%d", w, i)
		rev, err := int64(0), error(nil)
		switch {
		case revs[key] == 0:
			rev, err = m.Create(ctx, key, []byte(text), 0)
			revs[key] = rev
		case rand.IntN(4) == 0:
			rev, err = m.Delete(ctx, key, revs[key])
			revs[key] = 0
		default:
			rev, err = m.Update(ctx, key, []byte(text), revs[key], 0)
			revs[key] = rev
		}
		if err != nil {
			t.Error(err)
			return
		}
		if rand.IntN(3) == 0 {
			if err := c.Wait(ctx, rev); err != nil {
				t.Error(err)
				return
			}
		}
		c.Committed(key, rev, committed(text, rev))
		if w == 0 && i%100 == 50 {
			if err := m.Compact(ctx, rev); err != nil {
				t.Error(err)
			}
			m.Break()
		}
	}
}
