package watchcache

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// fed is a cache that is fed by hand.
type fed[T any] struct {
	*Cache[T]
	now time.Time
	at  int64
}

func feed[T any](o Options[T]) *fed[T] {
	return &fed[T]{Cache: New[T](nil, o), now: time.Unix(1_000_000, 0), at: 1}
}

func (f *fed[T]) do(events ...storage.Event) int64 {
	f.at++
	b := storage.Batch{Revision: f.at, Events: slices.Clone(events)}
	for i := range b.Events {
		b.Events[i].Revision = f.at
	}
	f.writer.apply(b, f.now)
	return f.at
}

func (f *fed[T]) pass(d time.Duration) {
	f.now = f.now.Add(d)
	f.writer.sweep(f.now)
}

// wantHeld checks what the cache thinks that its events hold.
func (f *fed[T]) wantHeld(t *testing.T) {
	t.Helper()
	var all int64
	for name, b := range f.buckets.present() {
		var sum int64
		events := 0
		for _, ch := range b.ring.Load().chunks {
			var bytes int64
			for _, e := range ch.filled() {
				bytes += f.history.cost(&e)
				events++
			}
			if ch.bytes != bytes {
				t.Errorf("%s: a chunk counts %d bytes, its entries hold %d", name, ch.bytes, bytes)
			}
			sum += bytes
		}
		var live int64
		b.pending.ascend("", "", func(it *Item[T]) bool {
			live += int64(f.o.LeastOf(it.Value))
			return true
		})
		if b.Bytes() != live {
			t.Errorf("%s counts %d bytes of present items, which have %d", name, b.Bytes(), live)
		}
		if b.bytes != sum || b.total != events {
			t.Errorf("%s counts %d bytes in %d events, holds %d in %d", name, b.bytes, b.total, sum, events)
		}
		all += sum
	}
	if f.history.held.Load() != all {
		t.Errorf("the cache counts %d bytes, its buckets hold %d", f.history.held.Load(), all)
	}
}

func sized() Options[string] {
	o := options()
	o.SizeOf = func(s string) int { return len(s) }
	o.LeastOf = o.SizeOf
	return o
}

func TestOnlySupersededItemsCount(t *testing.T) {
	f := feed(sized())
	f.do(put("g/pods/a", strings.Repeat("x", 1000)))
	if got := f.history.held.Load(); got != eventBytes {
		t.Errorf("a present item holds %d bytes, want %d", got, eventBytes)
	}
	f.do(put("g/pods/a", "y"))
	if got := f.history.held.Load(); got != 2*eventBytes+1000 {
		t.Errorf("after it was superseded %d bytes are held", got)
	}
	f.do(del("g/pods/a"))
	if got := f.history.held.Load(); got != 3*eventBytes+1001 {
		t.Errorf("after the deletion %d bytes are held", got)
	}
	f.wantHeld(t)
}

// TestFewEventsGrowOld: what fits into the chunk being filled is dropped in
// its time, too.
func TestFewEventsGrowOld(t *testing.T) {
	f := feed(sized())
	b := f.Bucket("g/pods")
	first := f.do(put("g/pods/a", "1"))
	behind := watch(t, b, first)
	last := f.do(put("g/pods/a", "2"), put("g/pods/b", "1"))
	follower := watch(t, b, last)

	f.pass(defaultKeep)
	if _, ok := b.At(first); !ok || b.total != 3 {
		t.Errorf("%d events are left, the first state: %v", b.total, ok)
	}
	f.pass(time.Nanosecond)
	if f.history.held.Load() != 0 || b.total != 0 || len(b.ring.Load().chunks) != 1 {
		t.Errorf("%d bytes in %d events are held for good", f.history.held.Load(), b.total)
	}
	if _, ok := b.At(first); ok {
		t.Error("the dropped state is served")
	}
	if s, ok := b.At(last); !ok || show(s) != "a=2 b=1" {
		t.Errorf("the present state: %q, %v", show(s), ok)
	}
	if _, err := behind.TryNext(1); !IsExpired(err) || !behind.Expired() {
		t.Errorf("a watcher that fell behind: %v", err)
	}
	if follower.Expired() {
		t.Error("a watcher that had seen all is said to have fallen behind")
	}
	if _, err := b.Watch(last - 1); !IsExpired(err) {
		t.Errorf("a watch from before the dropped events: %v", err)
	}
	if _, err := b.Watch(last); err != nil {
		t.Errorf("a watch from the last event on: %v", err)
	}
	next := f.do(put("g/pods/b", "2"))
	events, err := follower.TryNext(5)
	if err != nil || len(events) != 1 || events[0].Item.Revision != next || events[0].Prev != "1" {
		t.Errorf("a watcher that had seen all got %v, %v", events, err)
	}
	f.wantHeld(t)
}

func TestSlowTrickleGrowsOld(t *testing.T) {
	f := feed(sized())
	b := f.Bucket("g/pods")
	for i := range 30 {
		f.do(put("g/pods/a", fmt.Sprint(i)))
		f.pass(time.Minute)
	}
	// Five minutes at most until a chunk is ended, five until it is dropped.
	if b.total > 11 || b.total < 5 {
		t.Errorf("%d events of half an hour are kept, one a minute", b.total)
	}
	f.wantHeld(t)
}

func TestShortMemoryEndsRestingChunks(t *testing.T) {
	o := sized()
	o.HistoryBytes = 10_000
	f := feed(o)
	for i := range 20 {
		for range 3 {
			f.do(put(fmt.Sprintf("g/kind%02d/a", i), strings.Repeat("x", 1000)))
		}
	}
	f.pass(0)
	if f.history.held.Load() <= o.HistoryBytes {
		t.Fatal("nothing to be done")
	}
	busy := f.Bucket("g/busy")
	cur := watch(t, busy, f.at)
	f.pass(tick)
	f.do(put("g/busy/a", "1"))
	f.pass(time.Nanosecond)
	if held := f.history.held.Load(); held > o.HistoryBytes {
		t.Errorf("%d bytes are held, want %d", held, o.HistoryBytes)
	}
	if events, err := cur.TryNext(5); err != nil || len(events) != 1 {
		t.Errorf("a watcher that is awake lost its events: %v, %v", events, err)
	}
	f.wantHeld(t)
}

func TestShed(t *testing.T) {
	var shed []string
	size := map[string]int{}
	o := options()
	o.SizeOf = func(s string) int { return 10 + size[s] }
	o.Shed = func(s string) { shed = append(shed, s); size[s] = 0 }
	f := feed(o)
	size["1"], size["2"] = 500, 500
	f.do(put("g/pods/a", "1"))
	f.do(put("g/pods/a", "2"))
	if f.history.held.Load() != 2*eventBytes+510 {
		t.Errorf("what was derived does not count: %d", f.history.held.Load())
	}
	f.pass(shedAfter - 1)
	if len(shed) != 0 {
		t.Errorf("gave up %v too soon", shed)
	}
	f.pass(1)
	if len(shed) != 1 || shed[0] != "1" || f.history.held.Load() != 2*eventBytes+10 {
		t.Errorf("gave up %v, %d bytes are held", shed, f.history.held.Load())
	}
	size["1"] = 70 // somebody read it again
	f.pass(shedAfter - 1)
	if len(shed) != 1 {
		t.Errorf("looked again too soon: %v", shed)
	}
	f.pass(1)
	if len(shed) != 2 || size["1"] != 0 {
		t.Errorf("gave up %v", shed)
	}
	f.wantHeld(t)
}

// TestHistoryIsCountedRight applies and ages at random and counts again.
func TestHistoryIsCountedRight(t *testing.T) {
	for seed := range uint64(5) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		o := sized()
		o.History, o.HistoryBytes = 200, 60_000
		f := feed(o)
		for range 3000 {
			key := fmt.Sprintf("g/k%d/%d", rnd.IntN(4), rnd.IntN(20))
			if rnd.IntN(4) == 0 {
				f.do(del(key))
			} else {
				f.do(put(key, strings.Repeat("x", rnd.IntN(200))))
			}
			if rnd.IntN(50) == 0 {
				f.pass(time.Duration(rnd.IntN(200)) * time.Second)
				f.wantHeld(t)
			}
		}
	}
}

func TestPastStatesAreForgotten(t *testing.T) {
	f := feed(sized())
	b := f.Bucket("g/pods")
	first := f.do(put("g/pods/a", "1"))
	f.do(put("g/pods/a", "2"))
	f.do(put("g/pods/a", "3"))
	for _, rev := range []int64{first - 1, first} { // before all events, and between
		if _, ok := b.At(rev); !ok {
			t.Fatalf("no state at %d", rev)
		}
	}
	if s, ok := b.At(f.at); !ok || show(s) != "a=3" {
		t.Errorf("the present state: %q, %v", show(s), ok) // and it needs no remembering
	}
	remembered := func() (n int) {
		for i := range b.memo {
			if b.memo[i].Load() != nil {
				n++
			}
		}
		return n
	}
	f.pass(time.Second)
	if remembered() != 2 {
		t.Errorf("%d states are remembered", remembered())
	}
	f.pass(defaultKeep)
	if remembered() != 0 {
		t.Error("a state from before all events is kept")
	}
}

func TestEmptyBucketsGo(t *testing.T) {
	f := feed(sized())
	for i := range 100 {
		f.do(put(fmt.Sprintf("g/kind%02d/a", i), "x"))
	}
	held := f.Bucket("g/kind07")
	for i := range 100 {
		f.do(del(fmt.Sprintf("g/kind%02d/a", i)))
	}
	gone := f.at
	f.do(put("g/other/a", "x"))
	f.pass(time.Second)
	if n := len(f.buckets.present()); n != 101 {
		t.Errorf("%d buckets while they have events, want 101", n)
	}
	f.pass(2 * defaultKeep)
	runtime.GC()
	f.pass(0)
	if n, resting := len(f.buckets.present()), len(f.buckets.resting); n != 1 || resting != 1 {
		t.Errorf("%d buckets and %d at rest, want the one with an item and the one that is held", n, resting)
	}
	if f.Bucket("g/kind07") != held {
		t.Error("who holds a bucket and who asks for it have different ones")
	}
	if b := f.Bucket("g/kind07"); b != held || len(f.buckets.resting) != 0 {
		t.Error("the bucket rests although it was asked for")
	}
	// One that is gone does not claim to know what it has forgotten.
	again := f.Bucket("g/kind08")
	if _, err := again.Watch(gone - 100); !IsExpired(err) {
		t.Errorf("a watch from before the last deletion: %v", err)
	}
	if _, err := again.Watch(gone); err != nil {
		t.Errorf("a watch from after it: %v", err)
	}
	runtime.KeepAlive(held)
}

func TestRestingBucketWakes(t *testing.T) {
	f := feed(sized())
	b := f.Bucket("g/pods")
	f.do(put("g/pods/a", "1"))
	f.do(del("g/pods/a"))
	f.pass(2 * defaultKeep)
	if len(f.buckets.resting) != 1 || len(f.buckets.present()) != 0 {
		t.Fatalf("%d at rest", len(f.buckets.resting))
	}
	cur := watch(t, b, f.at)
	f.do(put("g/pods/a", "2"))
	if events, err := cur.TryNext(5); err != nil || len(events) != 1 || show(b.Snapshot()) != "a=2" {
		t.Errorf("who held the bucket sees %q and %v, %v", show(b.Snapshot()), events, err)
	}
	// So does a load, which must not pass over those who watch nothing.
	f.do(del("g/pods/a"))
	f.pass(2 * defaultKeep)
	cur = watch(t, b, f.at)
	f.buckets.replace(content[string]{"g/pods": {{Key: "b", Revision: 50_000, Value: "3"}}}, 50_000)
	if _, err := cur.TryNext(1); !IsExpired(err) || show(b.Snapshot()) != "b=3" || f.Bucket("g/pods") != b {
		t.Errorf("after a load %q and %v", show(b.Snapshot()), err)
	}
}
