package watchcache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// coloured is a hub by what [colour] says of an item, before and after.
func coloured(b *Bucket[string]) *Hub[string, string] {
	return NewHub(b, func(ev *Event[string], visit func(string)) bool {
		for _, value := range []string{ev.Prev, ev.Item.Value} {
			c, _, err := colour(value)
			if err != nil {
				return false
			}
			visit(c)
		}
		return true
	})
}

func ofColour(ev Event[string], colours []string) bool {
	was, _, _ := colour(ev.Prev)
	is, _, _ := colour(ev.Item.Value)
	return slices.Contains(colours, was) || slices.Contains(colours, is)
}

// Followers that come and go, and read in pieces while keys are written, get all events
// of their colours, in order, and nothing is called seen that they have not got.
func TestHubHammer(t *testing.T) {
	s := storagetest.NewMemory()
	o := options()
	o.History = 100_000
	c := run(t, s, o)
	b := c.Bucket("a/x")
	h := coloured(b)
	colours := []string{"red", "green", "blue", "white", "?"}
	const writes = 4000
	start := fresh(t, c)
	last := make(chan int64)
	go func() {
		rnd := rand.New(rand.NewPCG(1, 1))
		revs, rev := map[string]int64{}, int64(0)
		for i := range writes {
			key, value := fmt.Sprintf("/registry/a/x/%02d", rnd.IntN(50)), fmt.Sprintf("%s %d", colours[rnd.IntN(1000)%(3+rnd.IntN(3))], i)
			var err error
			if revs[key] == 0 {
				rev, err = s.Create(context.Background(), key, []byte(value), 0)
			} else {
				rev, err = s.Update(context.Background(), key, []byte(value), revs[key], 0)
			}
			if err != nil {
				t.Error(err)
				break
			}
			revs[key] = rev
		}
		last <- rev
	}()
	var readers sync.WaitGroup
	got := make([][]string, 12)
	for i := range got {
		readers.Go(func() { got[i] = followTo(t, h, b, start, colours[i%4:i%4+1+i/10], 1+i*7) })
	}
	end := <-last
	all := watch(t, b, start)
	for fresh(t, c) < end {
	}
	events, err := all.TryNext(writes)
	if err != nil || len(events) != writes {
		t.Fatal(len(events), err)
	}
	// The last event is for everybody, so that nobody waits for nothing.
	if _, err := s.Create(t.Context(), "/registry/a/x/end", []byte("? end"), 0); err != nil {
		t.Fatal(err)
	}
	readers.Wait()
	for i := range got {
		var want []string
		for _, ev := range events {
			if ofColour(ev, colours[i%4:i%4+1+i/10]) {
				want = append(want, describe(ev))
			}
		}
		if !slices.Equal(got[i], want) {
			t.Errorf("follower %d got %d events, want %d", i, len(got[i]), len(want))
		}
	}
	if h.count != 0 || len(h.followers) != 0 {
		t.Errorf("%d followers are left, of %d terms", h.count, len(h.followers))
	}
}

// followTo collects the events of colours until the one of the key "end".
func followTo(t *testing.T, h *Hub[string, string], b *Bucket[string], from int64, colours []string, piece int) (got []string) {
	f := h.Follow(watch(t, b, from), colours...)
	defer func() { f.Close() }()
	wait := time.After(patience)
	for {
		select {
		case <-f.Wait():
		case <-wait:
			t.Errorf("%q: nobody told of what happened after %d events, at %d", colours, len(got), f.seq)
			return got
		}
		for more := true; more; {
			before := f.Revision()
			events, err := f.AppendNext(nil, piece)
			if err != nil {
				t.Error(err)
				return got
			}
			for _, ev := range events {
				if ev.Item.Key == "end" {
					return got
				}
				if ev.Item.Revision <= before {
					t.Errorf("an event at %d was said to be seen at %d", ev.Item.Revision, before)
				}
				if ofColour(ev, colours) {
					got = append(got, describe(ev))
				}
			}
			more = len(events) == piece
		}
		if piece%2 == 0 { // now and then somebody else takes over
			place := f.Revision()
			f.Close()
			f = h.Follow(watch(t, b, place), colours...)
		}
	}
}

// awake tells whether a follower was woken, once the hub has told of all there is. It is
// called in a bubble of synctest.
func awake(f *Follower[string, string]) bool {
	synctest.Wait()
	select {
	case <-f.Wait():
		return true
	default:
		return false
	}
}

// Who is not interested is not woken, is told that it has seen everything, and has not
// fallen behind when the history no longer reaches back to where it began.
func TestHubPassesBy(t *testing.T) { synctest.Test(t, passesBy) }

func passesBy(t *testing.T) {
	o := options()
	o.History = 20
	c := New[string](nil, o)
	b := c.Bucket("a/x")
	h := coloured(b)
	rev := int64(0)
	write := func(value string) {
		rev++
		ev := put(fmt.Sprintf("a/x/%d", rev), value)
		ev.Revision = rev
		c.writer.apply(storage.Batch{Events: []storage.Event{ev}, Revision: rev}, time.Unix(rev, 0))
	}
	f := h.Follow(watch(t, b, 0), "red")
	defer f.Close()
	next := func() string {
		t.Helper()
		events, err := f.AppendNext(nil, 10)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, ev := range events {
			out = append(out, ev.Item.Value)
		}
		return strings.Join(out, " ")
	}
	if !awake(f) || next() != "" {
		t.Error("a follower looks once where it begins")
	}
	for range 2000 {
		write("green")
		if rev%16 == 0 && awake(f) {
			t.Fatal("woken for nothing")
		}
	}
	if awake(f) || f.Revision() != rev {
		t.Errorf("at revision %d, want %d", f.Revision(), rev)
	}
	write("red")
	if write("blue"); !awake(f) || f.Revision() != rev-2 {
		t.Errorf("before red at %d, want %d", f.Revision(), rev-2)
	}
	if got := next(); got != "red blue" || f.Revision() != rev {
		t.Errorf("got %q, at %d", got, f.Revision())
	}
	if write("?"); !awake(f) || next() != "?" {
		t.Error("what cannot be told is for everybody")
	}
	b.reset(&state[string]{rev: rev + 5})
	c.progress.rev.Store(rev + 5)
	if !awake(f) {
		t.Error("not told that all was loaded again")
	}
	if _, err := f.AppendNext(nil, 10); !IsExpired(err) || !f.Expired() {
		t.Errorf("got %v, want that it expired", err)
	}
}

// What happens while a follower reads, and is of no interest to it, does not hold it up for good.
func TestHubPassesByWhoIsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New[string](nil, options())
		b := c.Bucket("a/x")
		h := coloured(b)
		rev := int64(0)
		write := func(value string) {
			rev++
			ev := put(fmt.Sprintf("a/x/%d", rev), value)
			ev.Revision = rev
			c.writer.apply(storage.Batch{Events: []storage.Event{ev}, Revision: rev}, time.Unix(rev, 0))
		}
		f := h.Follow(watch(t, b, 0), "red")
		defer f.Close()
		write("red")
		awake(f)
		f.pass()
		events, err := f.Cursor.AppendNext(nil, 10)
		if err != nil || len(events) != 1 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		write("green") // before the follower has said how far it read
		synctest.Wait()
		f.settle(nil)
		for awake(f) {
			if events, err = f.AppendNext(nil, 10); err != nil || len(events) > 1 {
				t.Fatalf("%d events, %v", len(events), err)
			}
		}
		if write("green"); awake(f) || f.Revision() != rev {
			t.Errorf("at revision %d, want %d", f.Revision(), rev)
		}
	})
}

// Who closes leaves the others where they are, and nothing behind.
func TestHubCloseLeavesTheOthers(t *testing.T) {
	c := New[string](nil, options())
	b := c.Bucket("a/x")
	h := coloured(b)
	followers := make([]*Follower[string, string], 9)
	for i := range followers {
		followers[i] = h.Follow(watch(t, b, 0), "red", "green", "red")
	}
	for n, i := range []int{4, 0, 8, 1, 7, 3, 2, 6, 5} {
		followers[i].Close()
		if left := len(followers) - n - 1; h.count != left || len(h.followers["red"]) != 2*left || len(h.followers["green"]) != left {
			t.Fatalf("%d followers are left, %d of red and %d of green, want %d", h.count, len(h.followers["red"]), len(h.followers["green"]), left)
		}
	}
	if len(h.followers) != 0 {
		t.Errorf("%d terms are left", len(h.followers))
	}
}

// BenchmarkHubClose is one of 50,000 followers of the same term that closes, under the
// lock that the hub tells of events with, and another that comes for it.
func BenchmarkHubClose(b *testing.B) {
	c := New[string](nil, options())
	bucket := c.Bucket("a/x")
	h := coloured(bucket)
	followers := make([]*Follower[string, string], 50_000)
	follow := func(i int) {
		cursor, err := bucket.Watch(0)
		if err != nil {
			b.Fatal(err)
		}
		followers[i] = h.Follow(cursor, "red")
	}
	for i := range followers {
		follow(i)
	}
	for i := 0; b.Loop(); i++ {
		followers[i%len(followers)].Close()
		follow(i % len(followers))
	}
}

// BenchmarkHub is one event of 2,000 followers of another term each.
func BenchmarkHub(b *testing.B) {
	c := New[string](nil, options())
	bucket := c.Bucket("a/x")
	h := coloured(bucket)
	var followers []*Follower[string, string]
	for i := range 2000 {
		cursor, err := bucket.Watch(0)
		if err != nil {
			b.Fatal(err)
		}
		followers = append(followers, h.Follow(cursor, fmt.Sprint("c", i)))
	}
	for _, f := range followers {
		<-f.Wait()
		defer f.Close()
	}
	ev := put("a/x/k", "")
	b.ReportAllocs()
	for i := int64(1); b.Loop(); i++ {
		of := followers[i%2000]
		ev.Revision, ev.Value = i, []byte(of.terms[0].term+" x")
		c.writer.apply(storage.Batch{Events: []storage.Event{ev}, Revision: i}, time.Unix(1, 0))
		<-of.Wait()
		if events, err := of.AppendNext(nil, 10); err != nil || len(events) == 0 {
			b.Fatal(len(events), err)
		}
	}
}
