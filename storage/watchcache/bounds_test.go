package watchcache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// events does n changes of one object.
func (f *fed[T]) events(n int) {
	for range n {
		f.do(put("g/pods/a", "x"))
	}
}

// first is the sequence number of the oldest event of the only bucket.
func (f *fed[T]) first() int64 { return f.Bucket("g/pods").ring.Load().first() }

// Events are dropped when a bound is passed, and not before.
func TestEventsAreKeptUpToTheBounds_WATCH05(t *testing.T) {
	t.Run("number", func(t *testing.T) {
		o := sized()
		o.History = firstChunk
		f := feed(o)
		f.events(2*firstChunk - 1)
		if f.first() != 0 {
			t.Errorf("the oldest event is number %d while fewer than %d would be left", f.first(), firstChunk)
		}
		f.events(1)
		if f.first() != firstChunk {
			t.Errorf("the oldest event is number %d when %d would be left", f.first(), firstChunk)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		o := options()
		o.SizeOf = func(string) int { return 0 }
		o.LeastOf = func(string) int { return 1 << 20 } // half of it is more than all may have
		o.HistoryBytes = (firstChunk + 1) * eventBytes
		f := feed(o)
		f.events(firstChunk + 1)
		f.pass(tick + time.Nanosecond)
		if f.first() != 0 || len(f.Bucket("g/pods").ring.Load().chunks) != 2 {
			t.Error("events are dropped, or shall be soon, that cost no more than they may")
		}
		f.events(1)
		if f.first() != firstChunk {
			t.Errorf("the oldest event is number %d", f.first())
		}
	})
	t.Run("age", func(t *testing.T) {
		f := feed(sized())
		f.events(firstChunk)
		f.now = f.now.Add(defaultKeep)
		f.events(1)
		if f.first() != 0 {
			t.Error("events are dropped at the age up to which they are kept")
		}
		f.now = f.now.Add(time.Nanosecond)
		f.events(1)
		if f.first() != firstChunk {
			t.Error("events are kept beyond their time")
		}
	})
}

// What is being filled is ended when the first of it is old, or, when memory
// is short, when nothing came for a while.
func TestTheNewestEventsCanGrowOld(t *testing.T) {
	f := feed(sized())
	b := f.Bucket("g/pods")
	chunks := func() int { return len(b.ring.Load().chunks) }
	f.events(1)
	opened := f.now
	f.now = opened.Add(time.Minute)
	f.events(1)
	for _, c := range []struct {
		after time.Duration
		short bool
		want  int
	}{{defaultKeep, false, 1}, {time.Minute + tick, true, 1}, {time.Minute + tick + time.Nanosecond, true, 2}} {
		if b.rotate(opened.Add(c.after), defaultKeep, c.short); chunks() != c.want {
			t.Errorf("after %v, short of memory %t: %d chunks, want %d", c.after, c.short, chunks(), c.want)
		}
	}
	// Nothing came since: there is nothing to end.
	if b.rotate(opened.Add(time.Hour), defaultKeep, true); chunks() != 2 {
		t.Errorf("%d chunks, the last two of them empty", chunks())
	}
	f.events(1)
	if b.rotate(f.now.Add(defaultKeep), defaultKeep, false); chunks() != 2 {
		t.Error("it is ended at the age up to which events are kept")
	}
	if b.rotate(f.now.Add(defaultKeep+time.Nanosecond), defaultKeep, false); chunks() != 3 {
		t.Error("it is not ended when its first event is old")
	}
}

// One chunk whose turn has not come does not keep the later ones waiting.
func TestWhatWasDerivedIsGivenUpEverywhere(t *testing.T) {
	shed := 0
	o := sized()
	o.Shed = func(string) { shed++ }
	f := feed(o)
	f.events(firstChunk + 1) // the first event supersedes nothing
	f.now = f.now.Add(shedAfter / 2)
	f.do(put("g/pods/b", "1"), put("g/pods/b", "2"))
	f.pass(shedAfter / 2)
	if shed != firstChunk-1 {
		t.Errorf("%d items gave up what was derived of them, want %d", shed, firstChunk-1)
	}
	f.pass(shedAfter / 2)
	if shed != firstChunk+1 {
		t.Errorf("%d items gave up what was derived of them, want %d", shed, firstChunk+1)
	}
}

// An event that changes nothing here hides none of those after it.
func TestAnEventOfNobodyHidesNoOther(t *testing.T) {
	f := feed(sized())
	f.do(put("odd", "1"), del("g/pods/none"), put("g/pods/a", "1"), put("h/jobs/b", "1"))
	wantContent(t, f.Bucket("g/pods").Snapshot(), "a=1")
	wantContent(t, f.Bucket("h/jobs").Snapshot(), "b=1")
}

// The state at the horizon, before the oldest event, is held.
func TestTheStateAtTheHorizonIsServed_RV05(t *testing.T) {
	o := sized()
	o.History = firstChunk
	f := feed(o)
	f.events(3 * firstChunk)
	b := f.Bucket("g/pods")
	horizon := b.ring.Load().horizon
	if s, ok := b.At(horizon); !ok || show(s) != "a=x" || horizon == 0 {
		t.Errorf("at %d: %q, %t", horizon, show(s), ok)
	}
	if _, ok := b.At(horizon - 1); ok {
		t.Error("a state from before the horizon is served")
	}
}

// A watcher that has seen all that is left has nothing to do until something
// happens, also when everything before was dropped.
func TestAWatcherAtTheEndWaits(t *testing.T) {
	f := feed(sized())
	b := f.Bucket("g/pods")
	cur := watch(t, b, f.at)
	waits := func() bool {
		select {
		case <-cur.Wait():
			return false
		default:
			return true
		}
	}
	if !waits() {
		t.Error("nothing has happened")
	}
	f.at = 9
	f.writer.apply(storage.Batch{Revision: 9}, f.now)
	if !waits() || cur.Revision() != 9 {
		t.Errorf("nothing happened up to 9, and everything up to %d was delivered", cur.Revision())
	}
	f.events(1)
	if waits() {
		t.Error("an event is there")
	}
}

// forgetful is a store whose watches from before a revision break.
type forgetful struct {
	storage.Store
	before int64
	asked  atomic.Int64
}

func (f *forgetful) Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error) {
	if from >= f.before {
		return f.Store.Watch(ctx, prefix, from)
	}
	f.asked.Add(1)
	none := make(chan storage.Batch)
	close(none)
	return none, func() error { return errors.New("the past is gone") }
}

// A past that cannot be read is told of and done without.
func TestThePastIsAComfort_WATCH04(t *testing.T) {
	m := storagetest.NewMemory()
	var last int64
	for i := range 20 {
		last = m.Apply(put("g/pods/a", fmt.Sprint(i)))
	}
	told := make(chan error, 100)
	o := options()
	o.OnError = func(err error) { told <- err }
	store := &forgetful{Store: m, before: last}
	c := run(t, store, o)
	select {
	case err := <-told:
		if !strings.Contains(err.Error(), "history from revision") || !strings.Contains(err.Error(), "the past is gone") {
			t.Errorf("told %v", err)
		}
	default:
		t.Error("nobody was told")
	}
	wantContent(t, c.Bucket("g/pods").Snapshot(), "a=19")
	if _, err := c.Bucket("g/pods").Watch(last - 1); !IsExpired(err) || store.asked.Load() == 0 {
		t.Errorf("a watch of the past, which was asked for %d times: %v", store.asked.Load(), err)
	}
}
