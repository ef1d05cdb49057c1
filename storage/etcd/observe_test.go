package etcd

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

func TestRequestsAreObserved(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	observe := func(operation, key string, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if took <= 0 || took > time.Minute {
			t.Errorf("%s %s took %v", operation, key, took)
		}
		seen = append(seen, operation+" "+key)
	}
	e := startWith(t, EmbeddedConfig{Dir: t.TempDir(), ListenClientURL: "http://127.0.0.1:0", Observe: observe})
	remote, err := Open(t.Context(), Config{Endpoints: []string{e.ClientURL()}, Observe: observe})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := remote.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, s := range map[string]*Store{"embedded": e.Store(), "client": remote} {
		seen = nil
		key := "/k/" + name
		rev, err := s.Create(t.Context(), key, []byte("1"), 0)
		if err != nil {
			t.Fatal(err)
		}
		if rev, err = s.Update(t.Context(), key, []byte("2"), rev, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Range(t.Context(), storage.Range{Prefix: key}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Delete(t.Context(), key, rev); err != nil {
			t.Fatal(err)
		}
		want := []string{"create " + key, "update " + key, "get " + key, "list " + key, "delete " + key}
		if _, err := s.Revision(t.Context()); err != nil {
			t.Fatal(err)
		}
		if name == "client" {
			want = append(want, "revision ")
		}
		if !slices.Equal(seen, want) {
			t.Errorf("%s: observed %q, want %q", name, seen, fmt.Sprint(want))
		}
	}
}
