package watchcache

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

func TestBrokenWatchGoesOn_WATCH04(t *testing.T) {
	m := storagetest.NewMemory()
	c := run(t, m, options())
	cur := watch(t, c.Bucket("g/pods"), c.Revision())
	for round := range 5 {
		r1 := m.Apply(put("g/pods/a", "x"))
		m.Break()
		r2 := m.Apply(del("g/pods/a"))
		got := next(t, cur, 2)
		want := []string{fmt.Sprintf("ADDED a=x@%d", r1), fmt.Sprintf("DELETED a=x gone at %d@%d was x", r2, r2)}
		if got[0] != want[0] || got[1] != want[1] {
			t.Fatalf("round %d: got %v, want %v", round, got, want)
		}
	}
}

func TestStoreAway_RV06(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		m.Apply(put("g/pods/a", "1"))
		c := run(t, m, options())
		cur := watch(t, c.Bucket("g/pods"), c.Revision())
		m.Down(errors.New("gone fishing"))
		synctest.Wait()
		if c.Healthy() == nil {
			t.Error("healthy without a store")
		}
		wantContent(t, c.Bucket("g/pods").Snapshot(), "a=1") // RV-06: any state is still served
		if _, err := c.Fresh(t.Context()); storage.KindOf(err) != storage.Unavailable {
			t.Errorf("fresh without a store: %v", err)
		}
		r := m.Apply(put("g/pods/a", "2"))
		m.Down(nil)
		if got, want := next(t, cur, 1)[0], fmt.Sprintf("MODIFIED a=2@%d was 1", r); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		synctest.Wait()
		if err := c.Healthy(); err != nil {
			t.Errorf("once the store is back: %v", err)
		}
	})
}

func TestLostHistoryExpiresWatchers_WATCH05(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		m.Apply(put("g/pods/same", "1"))
		m.Apply(put("g/pods/a", "1"))
		m.Apply(put("g/nodes/n", "1"))
		made := map[string]int{}
		o := options()
		o.Make = func(kv storage.KV) string { made[kv.Key]++; return string(kv.Value) }
		c := run(t, m, o)
		pods, nodes, idle := c.Bucket("g/pods"), c.Bucket("g/nodes"), c.Bucket("g/idle")
		before := c.Revision()
		cursors := []*Cursor[string]{watch(t, pods, before), watch(t, nodes, before), watch(t, idle, before)}

		m.Down(errors.New("away"))
		synctest.Wait()
		if c.Healthy() == nil {
			t.Error("healthy without a store")
		}
		m.Apply(put("g/pods/a", "2"))
		m.Apply(del("g/nodes/n"))
		now := m.Apply(put("g/new/x", "1"))
		if err := m.Compact(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		m.Down(nil)
		for _, cur := range cursors {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			if _, _, err := cur.Next(ctx, 1); !IsExpired(err) {
				t.Errorf("a watcher over the gap: %v", err)
			}
			cancel()
		}
		fresh(t, c)
		wantContent(t, pods.Snapshot(), "a=2 same=1")
		wantContent(t, nodes.Snapshot(), "")
		wantContent(t, c.Bucket("g/new").Snapshot(), "x=1")
		for _, b := range []*Bucket[string]{pods, nodes, idle, c.Bucket("g/unheard")} {
			if _, err := b.Watch(before); !IsExpired(err) {
				t.Errorf("%s: a watch from before the gap: %v", b.Name(), err)
			}
			if _, ok := b.At(before); ok {
				t.Errorf("%s: a state from before the gap is served", b.Name())
			}
		}
		if made["/registry/g/pods/same"] != 1 || made["/registry/g/pods/a"] != 2 {
			t.Errorf("items made %v: an unchanged one must be kept", made)
		}
		cur := watch(t, pods, c.Revision())
		m.Apply(put("g/pods/a", "3"))
		next(t, cur, 1)
	})
}

func TestRestartKeepsHistory_WATCH04(t *testing.T) {
	m := storagetest.NewMemory()
	revs := []int64{}
	for i := range 50 {
		revs = append(revs, m.Apply(put("g/pods/a", fmt.Sprint(i))))
	}
	o := options()
	o.Replay = 30
	c := run(t, m, o)
	pods := c.Bucket("g/pods")
	// revs[19] is 30 before the last.
	cur := watch(t, pods, revs[19])
	for i, got := range next(t, cur, 30) {
		if want := fmt.Sprintf("MODIFIED a=%d@%d was %d", i+20, revs[i+20], i+19); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if s, ok := pods.At(revs[25]); !ok || show(s) != "a=25" {
		t.Errorf("a state from before the start: %q, %v", show(s), ok)
	}
	if _, err := pods.Watch(revs[18]); !IsExpired(err) {
		t.Errorf("a watch from further back: %v", err)
	}
}

// What was compacted is known from the first load on, and a cache that readers have seen
// does not go back behind that.
func TestALoadKnowsWhatWasCompacted(t *testing.T) {
	m := storagetest.NewMemory()
	var last int64
	for i := range 5 {
		last = m.Apply(put("g/pods/a", fmt.Sprint(i)))
	}
	if err := m.Compact(t.Context(), last-2); err != nil {
		t.Fatal(err)
	}
	c := New(m, options())
	if from, err := c.loader.pastRevision(t.Context(), last); from != last-2 || err != nil || c.compaction.rev.Load() != last-2 {
		t.Errorf("it starts at %d of %d, and %d is compacted: %v", from, last, c.compaction.rev.Load(), err)
	}
	c.progress.rev.Store(last)
	if from, err := c.loader.pastRevision(t.Context(), last); from != last || err != nil {
		t.Errorf("a cache that was read starts again at %d of %d: %v", from, last, err)
	}
}

// unaware is a store that was compacted by somebody else.
type unaware struct{ storage.Store }

func (unaware) CompactedRevision(context.Context) (int64, error) { return 0, nil }

func TestRestartAfterCompaction(t *testing.T) {
	for name, tell := range map[string]bool{"known": true, "unknown": false} {
		t.Run(name, func(t *testing.T) {
			m := storagetest.NewMemory()
			var revs []int64
			for i := range 20 {
				revs = append(revs, m.Apply(put("g/pods/a", fmt.Sprint(i))))
			}
			if err := m.Compact(t.Context(), revs[10]); err != nil {
				t.Fatal(err)
			}
			var store storage.Store = m
			oldest := revs[10]
			if !tell {
				store = unaware{m}
				oldest = revs[19]
			}
			c := run(t, store, options())
			if _, err := c.Bucket("g/pods").Watch(oldest); err != nil {
				t.Error(err)
			}
			if _, err := c.Bucket("g/pods").Watch(oldest - 1); !IsExpired(err) {
				t.Errorf("a watch from before: %v", err)
			}
		})
	}
}

func TestNotLoaded(t *testing.T) {
	m := storagetest.NewMemory()
	m.Down(errors.New("away"))
	c := New[string](m, options())
	if c.Healthy() == nil {
		t.Error("healthy before it was loaded")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run ended with %v", err)
	}
	select {
	case <-c.Ready():
		t.Error("ready without a store")
	default:
	}
}
