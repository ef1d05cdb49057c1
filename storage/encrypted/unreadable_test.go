package encrypted_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/encrypted"
	"github.com/wasmgate/wasmgate/storage/storagetest"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// What cannot be read is told of its key, and hides no other.
func TestUnreadable(t *testing.T) {
	m := storagetest.NewMemory()
	var told []string
	s := encrypted.New(m, turned{stale: func(kept []byte) bool { return strings.HasSuffix(string(kept), "dlo") }}, func(key string, err error) {
		if !errors.Is(err, errForeign) {
			t.Error(err)
		}
		told = append(told, key)
	})
	must(s.Create(t.Context(), "/a/good", []byte("new"), 0))(t)
	must(s.Create(t.Context(), "/a/old", []byte("old"), 0))(t)
	bad := must(m.Create(t.Context(), "/a/bad", []byte("plain"), 0))(t)
	page, err := s.Range(t.Context(), storage.Range{Prefix: "/a/"})
	if err != nil {
		t.Fatal(err)
	}
	want := []storage.KV{
		{Key: "/a/bad", Keeping: storage.Unreadable},
		{Key: "/a/good", Value: []byte("new"), Keeping: storage.Kept},
		{Key: "/a/old", Value: []byte("old"), Keeping: storage.Stale},
	}
	for i, kv := range page.KVs {
		if w := want[i]; kv.Key != w.Key || string(kv.Value) != string(w.Value) || kv.Keeping != w.Keeping {
			t.Errorf("got %+v, want %+v", kv, w)
		}
	}
	if len(told) != 1 || told[0] != "/a/bad" {
		t.Errorf("told of %q", told)
	}
	if _, err := s.Delete(t.Context(), "/a/bad", bad); err != nil {
		t.Error(err)
	}
}

// What cannot be transformed is not written, and nothing along with it.
func TestNotEncrypted(t *testing.T) {
	m := storagetest.NewMemory()
	errNoKey := errors.New("no key")
	s := encrypted.New(m, turned{broken: func(key string) error {
		if strings.HasSuffix(key, "/bad") {
			return errNoKey
		}
		return nil
	}}, nil)
	for name, err := range map[string]error{
		"create":       second(s.Create(t.Context(), "/a/bad", nil, 0)),
		"update":       second(s.Update(t.Context(), "/a/bad", nil, 7, 0)),
		"guarded":      second(s.While("/a/good", 0).Create(t.Context(), "/a/bad", nil, 0)),
		"along":        second(s.Along("/a/bad", nil, 0).Create(t.Context(), "/a/good", nil, 0)),
		"along, while": second(s.Along("/a/bad", nil, 0).While("/a/other", 0).Along("/a/more", nil, 0).Delete(t.Context(), "/a/good", 1)),
		"along, put":   second(s.While("/x", 0).Along("/a/bad", nil, 0).Update(t.Context(), "/a/good", nil, 1, 0)),
	} {
		if storage.KindOf(err) != storage.Unavailable || !errors.Is(err, errNoKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if rev, err := m.Revision(t.Context()); err != nil || rev != must(storagetest.NewMemory().Revision(t.Context()))(t) {
		t.Errorf("something was written: %d, %v", rev, err)
	}
}

func second(_ int64, err error) error { return err }

// TestReopened: a cache over values that could not be read shows them soon after they
// can be, and is left alone as long as they cannot.
func TestReopened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		var locked atomic.Bool
		errLocked := errors.New("locked")
		s := encrypted.New(m, turned{broken: func(key string) error {
			if locked.Load() && strings.HasSuffix(key, "/b") {
				return errLocked
			}
			return nil
		}}, nil)
		must(s.Create(t.Context(), "/g/a", []byte("1"), 0))(t)
		must(s.Create(t.Context(), "/g/b", []byte("2"), 0))(t)
		locked.Store(true)
		made := atomic.Int64{}
		c := watchcache.New(s, watchcache.Options[string]{
			Prefix: "/", BucketOf: func(string) string { return "g" },
			Make: func(kv storage.KV) string {
				made.Add(1)
				if kv.Keeping == storage.Unreadable {
					return "?"
				}
				return string(kv.Value)
			},
			Again: func(item string) bool { return item == "?" },
		})
		go func() { _ = c.Run(t.Context()) }()
		<-c.Ready()
		wantBoth := func(want string) {
			t.Helper()
			synctest.Wait()
			a, _ := c.Bucket("g").Snapshot().Get("a")
			b, _ := c.Bucket("g").Snapshot().Get("b")
			if got := a.Value + b.Value; got != want {
				t.Errorf("the cache shows %q, want %q", got, want)
			}
		}
		wantBoth("1?")
		watcher, err := c.Bucket("g").Watch(c.Revision())
		if err != nil {
			t.Fatal(err)
		}
		before := made.Load()
		s.Recheck(t.Context())
		wantBoth("1?")
		if _, err := watcher.TryNext(1); err != nil || made.Load() != before {
			t.Errorf("a watcher was sent away, or %d items made, for nothing: %v", made.Load()-before, err)
		}
		locked.Store(false)
		s.Recheck(t.Context())
		if _, _, err := watcher.Next(t.Context(), 1); !watchcache.IsExpired(err) {
			t.Errorf("the watcher was told %v", err)
		}
		if _, err := c.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantBoth("12")
		if n := made.Load() - before; n != 1 {
			t.Errorf("%d items were made again, want 1", n)
		}
	})
}

// Watches end as soon as one value can be read again that a scan could not read, whatever
// became of the others, and not before.
func TestRecheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		locked := true
		s := encrypted.New(m, turned{broken: func(key string) error {
			if locked && strings.HasPrefix(key, "/g/locked") {
				return errForeign
			}
			return nil
		}}, nil)
		must(s.Create(t.Context(), "/g/open", []byte("1"), 0))(t)
		locked = false
		gone := map[string]int64{}
		for n := range 100 {
			key := fmt.Sprint("/g/locked/", n)
			gone[key] = must(s.Create(t.Context(), key, []byte("2"), 0))(t)
		}
		must(s.Create(t.Context(), "/g/locked", []byte("3"), 0))(t)
		locked = true
		if err := s.Scan(t.Context(), storage.Range{Prefix: "/g/"}, func(storage.Page) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for key, rev := range gone { // which no watch tells
			must(m.Delete(t.Context(), key, rev))(t)
		}
		now := must(m.Revision(t.Context()))(t)
		batches, reason := s.Watch(t.Context(), "/g/", now+1)
		ended := func() bool {
			synctest.Wait()
			select {
			case _, more := <-batches:
				return !more
			default:
				return false
			}
		}
		if s.Recheck(t.Context()); ended() {
			t.Fatalf("it ends while nothing more can be read: %v", reason())
		}
		locked = false
		if s.Recheck(t.Context()); !ended() || storage.KindOf(reason()) != storage.Reopened {
			t.Errorf("it goes on, or ended otherwise: %v", reason())
		}
	})
}

// However many values cannot be read, looking at them again takes only so long.
func TestRecheckIsBounded(t *testing.T) {
	const most = 1000
	m, looked := storagetest.NewMemory(), 0
	s := encrypted.New(m, turned{broken: func(string) error { looked++; return errForeign }}, nil)
	for n := range most + 2 {
		must(m.Create(t.Context(), fmt.Sprintf("/g/%04d", n), []byte("x"), 0))(t)
	}
	if err := s.Scan(t.Context(), storage.Range{Prefix: "/g/"}, func(storage.Page) error { return nil }); err != nil {
		t.Fatal(err)
	}
	looked = 0
	if s.Recheck(t.Context()); looked/2 != most { // broken is asked twice for each
		t.Errorf("%d values are looked at, want %d", looked/2, most)
	}
}
