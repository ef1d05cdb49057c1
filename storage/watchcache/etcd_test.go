package watchcache

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/etcd"
)

func embedded(t testing.TB, dir string) *etcd.Embedded {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := etcd.StartEmbedded(ctx, etcd.EmbeddedConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestOverEtcdRestart is the story of a gateway that restarts: the same
// cursor position, on a new cache over the same data, misses nothing.
func TestOverEtcdRestart_WATCH04_PER01(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etcd")
	last := int64(1) // the revision of an empty store
	seen := map[string]bool{}
	revs := map[string]int64{}
	for round := range 3 {
		e := embedded(t, dir)
		s := e.Store()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		c := New[string](s, options())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		select {
		case <-c.Ready():
		case <-ctx.Done():
			t.Fatal("not ready")
		}
		b := c.Bucket("g/pods")
		cur := watch(t, b, last)
		for i := range 200 {
			key := fmt.Sprintf("/registry/g/pods/%d-%d", round, i)
			rev, err := s.Create(ctx, key, []byte("x"), 0)
			if err != nil {
				t.Fatal(err)
			}
			revs[key] = rev
		}
		// Read only some: the rest must come after the restart.
		for range 150 {
			events, _, err := cur.Next(ctx, 1)
			if err != nil {
				t.Fatal(err)
			}
			key := "/registry/g/pods/" + events[0].Item.Key
			if seen[key] || events[0].Item.Revision != revs[key] {
				t.Fatalf("%s seen before: %v, at %d, written at %d", key, seen[key], events[0].Item.Revision, revs[key])
			}
			seen[key] = true
			last = events[0].Item.Revision
		}
		if rev, err := c.Fresh(ctx); err != nil || b.Snapshot().Revision() < rev || b.Snapshot().Len() != 200*(round+1) {
			t.Fatalf("fresh at %d (%v), snapshot at %d with %d items", rev, err, b.Snapshot().Revision(), b.Snapshot().Len())
		}
		cancel()
		<-done
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 450 {
		t.Errorf("saw %d events, want 450", len(seen))
	}
}

func BenchmarkGet(b *testing.B) {
	c := New[string](nil, options())
	c.writer.apply(manyPuts(10_000), time.Now())
	bucket := c.Bucket("g/pods")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, ok := bucket.Snapshot().Get(benchKeys[i%len(benchKeys)]); !ok {
			b.Fatal("missing")
		}
		i++
	}
}

var benchKeys = func() []string {
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("ns%d/name-%05d", i%10, i)
	}
	return keys
}()

func manyPuts(n int) storage.Batch {
	b := storage.Batch{Revision: int64(n) + 1}
	for i := range n {
		ev := put("g/pods/"+benchKeys[i%len(benchKeys)], "value")
		ev.Revision = int64(i) + 2
		b.Events = append(b.Events, ev)
	}
	return b
}

func BenchmarkApply(b *testing.B) {
	c := New[string](nil, options())
	c.writer.apply(manyPuts(10_000), time.Now())
	rev := int64(10_001)
	b.ReportAllocs()
	for b.Loop() {
		rev++
		ev := put("g/pods/"+benchKeys[rev%10_000], "value")
		ev.Revision = rev
		c.writer.apply(storage.Batch{Revision: rev, Events: []storage.Event{ev}}, time.Now())
	}
}

func BenchmarkList5000(b *testing.B) {
	c := New[string](nil, options())
	c.writer.apply(manyPuts(5000), time.Now())
	bucket := c.Bucket("g/pods")
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		bucket.Snapshot().Ascend("", "", func(it Item[string]) bool { n += len(it.Value); return true })
	}
}

// BenchmarkFanOut500 is one event to 500 cursors, each with a goroutine.
func BenchmarkFanOut500(b *testing.B) {
	const watchers = 500
	c := New[string](nil, options())
	bucket := c.Bucket("g/pods")
	got := make(chan struct{}, watchers)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range watchers {
		cur := watch(b, bucket, 0)
		go func() {
			var buf []Event[string]
			for {
				ready := cur.Wait()
				var err error
				if buf, err = cur.AppendNext(buf[:0], 100); err != nil {
					return
				}
				for range buf {
					got <- struct{}{}
				}
				select {
				case <-ready:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	rev := int64(1)
	b.ReportAllocs()
	for b.Loop() {
		rev++
		ev := put("g/pods/a", "value")
		ev.Revision = rev
		c.writer.apply(storage.Batch{Revision: rev, Events: []storage.Event{ev}}, time.Now())
		for range watchers {
			<-got
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/watchers, "ns/delivery")
}

// BenchmarkStart is the time from nothing to ready, over a store with 10,000
// objects and 20,000 revisions of history.
func BenchmarkStart(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "etcd")
	e := embedded(b, dir)
	value := make([]byte, 1200)
	writeMany(b, e.Store(), 30_000, value)
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		began := time.Now()
		e := embedded(b, dir)
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-etcd")
		began = time.Now()
		c := New[string](e.Store(), options())
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		if err := c.Wait(ctx, 1); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-load")
		<-c.Ready()
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-cache")
		cancel()
		<-done
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// writeMany creates 10,000 keys and updates them until n writes are done.
func writeMany(b *testing.B, s storage.Store, n int, value []byte) {
	b.Helper()
	errs := make(chan error)
	for w := range 50 {
		go func() {
			revs := map[string]int64{}
			for i := w; i < n; i += 50 {
				key := "/registry/g/pods/" + benchKeys[i%len(benchKeys)]
				var err error
				if rev := revs[key]; rev == 0 {
					revs[key], err = s.Create(context.Background(), key, value, 0)
				} else {
					revs[key], err = s.Update(context.Background(), key, value, rev, 0)
				}
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range 50 {
		if err := <-errs; err != nil {
			b.Fatal(err)
		}
	}
}
