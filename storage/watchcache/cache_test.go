package watchcache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

const patience = time.Minute

// options make items that are the stored text; the first two segments of a
// key are its bucket.
func options() Options[string] {
	return Options[string]{
		Prefix: "/registry/",
		BucketOf: func(key string) string {
			parts := strings.SplitN(key, "/", 3)
			if len(parts) < 3 {
				return ""
			}
			return key[:len(parts[0])+1+len(parts[1])]
		},
		Make:      func(kv storage.KV) string { return string(kv.Value) },
		Tombstone: func(last string, rev int64) string { return fmt.Sprintf("%s gone at %d", last, rev) },
	}
}

// run starts a cache over the store and waits until it is ready.
func run(t testing.TB, store storage.Store, o Options[string]) *Cache[string] {
	t.Helper()
	c := New(store, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	})
	select {
	case <-c.Ready():
	case <-time.After(patience):
		t.Fatalf("cache not ready: %v", c.Healthy())
	}
	return c
}

func put(key, value string) storage.Event {
	return storage.Event{KV: storage.KV{Key: "/registry/" + key, Value: []byte(value)}}
}

func del(key string) storage.Event {
	return storage.Event{KV: storage.KV{Key: "/registry/" + key}, Deleted: true}
}

func fresh(t testing.TB, c *Cache[string]) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	rev, err := c.Fresh(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func watch(t testing.TB, b *Bucket[string], from int64) *Cursor[string] {
	t.Helper()
	cur, err := b.Watch(from)
	if err != nil {
		t.Fatal(err)
	}
	return cur
}

// next waits for n events and gives them as text.
func next(t testing.TB, cur *Cursor[string], n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var got []string
	for len(got) < n {
		events, _, err := cur.Next(ctx, n-len(got))
		if err != nil {
			t.Fatalf("after %v: %v", got, err)
		}
		for _, ev := range events {
			got = append(got, describe(ev))
		}
	}
	return got
}

func describe(ev Event[string]) string {
	s := fmt.Sprintf("%s %s=%s@%d", ev.Type, ev.Item.Key, ev.Item.Value, ev.Item.Revision)
	if ev.HasPrev {
		s += " was " + ev.Prev
	}
	return s
}

func show(s Snapshot[string]) string {
	var out []string
	s.Ascend("", "", func(it Item[string]) bool {
		out = append(out, it.Key+"="+it.Value)
		return true
	})
	return strings.Join(out, " ")
}

func wantContent(t testing.TB, s Snapshot[string], want string) {
	t.Helper()
	if got := show(s); got != want {
		t.Errorf("at %d: got %q, want %q", s.Revision(), got, want)
	}
}

func TestBucketsAndSnapshots_RV05(t *testing.T) {
	m := storagetest.NewMemory()
	m.Apply(put("g/pods/ns/b", "1"), put("g/pods/ns/a", "1"), put("g/nodes/n", "1"), put("odd", "1"), put("g/pods/", "1"))
	c := run(t, m, options())
	pods := c.Bucket("g/pods")
	wantContent(t, pods.Snapshot(), "ns/a=1 ns/b=1")
	wantContent(t, c.Bucket("g/nodes").Snapshot(), "n=1")
	wantContent(t, c.Bucket("g/none").Snapshot(), "")

	m.Apply(put("g/pods/ns/a", "2"))
	m.Apply(del("g/pods/ns/b"))
	rev := m.Apply(put("g/nodes/n", "2"))
	if got := fresh(t, c); got < rev {
		t.Fatalf("fresh at %d, want %d", got, rev)
	}
	s := pods.Snapshot()
	wantContent(t, s, "ns/a=2")
	if s.Revision() < rev {
		t.Errorf("the list is at %d, though the cache has seen %d", s.Revision(), rev)
	}
	if it, ok := s.Get("ns/a"); !ok || it.Value != "2" {
		t.Errorf("get: %+v, %v", it, ok)
	}
	if _, ok := s.Get("ns/b"); ok {
		t.Error("a deleted key is still there")
	}
	if err := c.Healthy(); err != nil {
		t.Errorf("unhealthy: %v", err)
	}
}

func TestFreshWaitsForOtherPrefixes_RV05(t *testing.T) {
	m := storagetest.NewMemory()
	c := run(t, m, options())
	ev := put("", "")
	ev.Key = "/elsewhere"
	rev := m.Apply(ev)
	if got := fresh(t, c); got < rev || c.Revision() < rev {
		t.Fatalf("fresh at %d, cache at %d, want %d", got, c.Revision(), rev)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Wait(ctx, rev+1); storage.KindOf(err) != storage.FutureRevision || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("waiting for the future: %v", err)
	}
}

func TestWatchEvents_WATCH02(t *testing.T) {
	m := storagetest.NewMemory()
	c := run(t, m, options())
	pods := c.Bucket("g/pods")
	cur := watch(t, pods, c.Revision())
	if events, err := cur.TryNext(10); err != nil || len(events) != 0 {
		t.Fatalf("events from nowhere: %v, %v", events, err)
	}
	r1 := m.Apply(put("g/pods/a", "1"))
	m.Apply(put("g/nodes/a", "1"))
	r2 := m.Apply(put("g/pods/a", "2"), put("g/pods/b", "1"))
	r3 := m.Apply(del("g/pods/a"))
	m.Apply(del("g/pods/never"))
	r4 := m.Apply(put("g/pods/a", "3"))
	want := []string{
		fmt.Sprintf("ADDED a=1@%d", r1),
		fmt.Sprintf("MODIFIED a=2@%d was 1", r2),
		fmt.Sprintf("ADDED b=1@%d", r2),
		fmt.Sprintf("DELETED a=2 gone at %d@%d was 2", r3, r3),
		fmt.Sprintf("ADDED a=3@%d", r4),
	}
	if got := next(t, cur, 5); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// From any revision on, only what came after it.
	for from, n := range map[int64]int{r1 - 1: 5, r1: 4, r2: 2, r3: 1} {
		if got := next(t, watch(t, pods, from), n); got[0] != want[5-n] {
			t.Errorf("from %d: first is %s, want %s", from, got[0], want[5-n])
		}
	}
}

func TestCursorRevision_WATCH07(t *testing.T) {
	m := storagetest.NewMemory()
	c := run(t, m, options())
	pods := c.Bucket("g/pods")
	cur := watch(t, pods, c.Revision())
	r1 := m.Apply(put("g/pods/a", "1"))
	r2 := m.Apply(put("g/nodes/a", "1"))
	fresh(t, c)
	if got := cur.Revision(); got != r1-1 {
		t.Errorf("with an event waiting at %d the bookmark says %d", r1, got)
	}
	next(t, cur, 1)
	if got := cur.Revision(); got != r2 {
		t.Errorf("with nothing waiting the bookmark says %d, want %d", got, r2)
	}
}

func TestWatchFromTheFuture_RV16(t *testing.T) {
	m := storagetest.NewMemory()
	c := run(t, m, options())
	cur := watch(t, c.Bucket("g/pods"), c.Revision()+2)
	m.Apply(put("g/pods/a", "1"))
	m.Apply(put("g/pods/a", "2"))
	r := m.Apply(put("g/pods/a", "3"))
	if got, want := next(t, cur, 1)[0], fmt.Sprintf("MODIFIED a=3@%d was 2", r); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAtIsExact_RV08_RV09_LIST05(t *testing.T) {
	m := storagetest.NewMemory()
	base := m.Apply(put("g/pods/p", "0"))
	c := run(t, m, options())
	pods := c.Bucket("g/pods")
	want := map[int64]string{}
	live := map[string]string{"p": "0"}
	for i := range 600 {
		var rev int64
		key := fmt.Sprintf("k%d", i%7)
		switch {
		case i%5 == 4:
			rev = m.Apply(put("g/nodes/n", "x")) // not ours: the state stays
		case i%11 == 10 && live[key] != "":
			rev = m.Apply(del("g/pods/" + key))
			delete(live, key)
		default:
			rev = m.Apply(put("g/pods/"+key, fmt.Sprint(i)), put("g/pods/p", fmt.Sprint(i)))
			live[key], live["p"] = fmt.Sprint(i), fmt.Sprint(i)
		}
		want[rev] = ""
		for k := range 7 {
			if v, ok := live[fmt.Sprintf("k%d", k)]; ok {
				want[rev] += fmt.Sprintf("k%d=%s ", k, v)
			}
		}
		want[rev] += "p=" + live["p"]
	}
	last := fresh(t, c)
	for range 2 { // the second time from memory
		for rev, content := range want {
			s, ok := pods.At(rev)
			if !ok || s.Revision() != rev {
				t.Fatalf("at %d: %v, revision %d", rev, ok, s.Revision())
			}
			wantContent(t, s, content)
		}
	}
	if s, ok := pods.At(base); !ok || show(s) != "p=0" {
		t.Errorf("the state before the first event: %q, %v", show(s), ok)
	}
	if _, ok := pods.At(last + 1); ok {
		t.Error("a state of the future is served")
	}
	c.compaction.rev.Store(last - 10)
	if s, ok := pods.At(last - 10); !ok || s.Revision() != last-10 {
		t.Error("the state that the store was compacted to is not served")
	}
	if _, ok := pods.At(last - 11); ok {
		t.Error("a compacted state is served")
	}
}

func TestHistoryLimits_WATCH05(t *testing.T) {
	m := storagetest.NewMemory()
	o := options()
	o.History = 300
	c := run(t, m, o)
	pods := c.Bucket("g/pods")
	start := c.Revision()
	slow := watch(t, pods, start)
	for i := range 2000 {
		m.Apply(put("g/pods/a", fmt.Sprint(i)))
	}
	last := fresh(t, c)
	if _, err := pods.Watch(start); !IsExpired(err) {
		t.Errorf("watch from a dropped revision: %v", err)
	}
	if _, ok := pods.At(start); ok {
		t.Error("a dropped state is served")
	}
	if _, err := slow.TryNext(1); !IsExpired(err) {
		t.Errorf("a watcher that fell out of the ring: %v", err)
	}
	select {
	case <-slow.Wait():
	default:
		t.Error("Wait does not report the failure")
	}
	if got := next(t, watch(t, pods, last-300), 300); len(got) != 300 {
		t.Errorf("%d events are kept", len(got))
	}
	if n := pods.ring.Load().end() - pods.ring.Load().first(); n > 300+maxChunk {
		t.Errorf("%d events are kept, want at most about 300", n)
	}
}

func TestHistoryBytes(t *testing.T) {
	m := storagetest.NewMemory()
	o := options()
	o.SizeOf = func(s string) int { return len(s) }
	o.HistoryBytes = 100_000
	c := run(t, m, o)
	for range 1000 {
		m.Apply(put("g/pods/a", strings.Repeat("x", 1000)))
	}
	fresh(t, c)
	if held := c.history.held.Load(); held > 100_000+maxChunk*1000 {
		t.Errorf("events hold %d bytes", held)
	}
}

func TestOldEventsAreSwept(t *testing.T) {
	f := feed(options()) // sweeping is the writer's
	for i := range 500 {
		f.do(put("g/pods/a", fmt.Sprint(i)))
	}
	b := f.Bucket("g/pods")
	f.pass(time.Minute)
	if n := len(b.ring.Load().chunks); n < 4 {
		t.Errorf("only %d chunks are left of the last minutes", n)
	}
	f.pass(time.Hour)
	if n := len(b.ring.Load().chunks); n != 1 {
		t.Errorf("%d chunks are left after an hour", n)
	}
}

// Each comes to all items, whatever bucket they are in.
func TestEachComesToAllItems(t *testing.T) {
	store := storagetest.NewMemory()
	for _, key := range []string{"a/x/1", "a/x/2", "a/x/3", "b/y/1", "b/y/2"} {
		if _, err := store.Create(t.Context(), "/registry/"+key, []byte(key), 0); err != nil {
			t.Fatal(err)
		}
	}
	c := run(t, store, options())
	fresh(t, c)
	var seen []string
	c.Each(func(it Item[string]) { seen = append(seen, it.Value) })
	slices.Sort(seen)
	if got := strings.Join(seen, " "); got != "a/x/1 a/x/2 a/x/3 b/y/1 b/y/2" {
		t.Errorf("it came to %s", got)
	}
}
