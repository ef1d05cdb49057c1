package encrypted_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/encrypted"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

var errForeign = errors.New("not of this key")

// turned keeps values backwards, after the key that they are kept under; stale tells
// which are to be kept otherwise, broken makes nothing readable.
type turned struct {
	stale  func(kept []byte) bool
	broken func(key string) error
}

func (c turned) ToStorage(_ context.Context, key string, value []byte) ([]byte, error) {
	if c.broken != nil && c.broken(key) != nil {
		return nil, c.broken(key)
	}
	return append([]byte("turned:"+key+":"), reverse(value)...), nil
}

func (c turned) FromStorage(_ context.Context, key string, kept []byte) ([]byte, bool, error) {
	if c.broken != nil && c.broken(key) != nil {
		return nil, false, c.broken(key)
	}
	value, ok := bytes.CutPrefix(kept, []byte("turned:"+key+":"))
	if !ok {
		return nil, false, errForeign
	}
	return reverse(value), c.stale != nil && c.stale(kept), nil
}

func reverse(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[len(b)-1-i] = b[i]
	}
	return out
}

func TestConformance(t *testing.T) {
	m := storagetest.NewMemory()
	storagetest.Run(t, storagetest.Options{Store: encrypted.New(m, turned{}, nil), Compact: m.Compact})
}

// TestNothingPassesBy compares what is kept with what every way of reading shows.
func TestNothingPassesBy(t *testing.T) {
	m := storagetest.NewMemory()
	s := encrypted.New(m, turned{}, func(key string, err error) { t.Errorf("%s: %v", key, err) })
	batches, _ := s.Watch(t.Context(), "/a/", 1)
	one := must(s.Create(t.Context(), "/a/one", []byte("abc"), 0))(t)
	one = must(s.Update(t.Context(), "/a/one", []byte("abcd"), one, 0))(t)
	must(s.While("/a/one", one).Create(t.Context(), "/a/two", []byte("while"), 0))(t)
	four, five := must(s.Create(t.Context(), "/a/four", nil, 0))(t), must(s.Create(t.Context(), "/a/five", nil, 0))(t)
	three := must(s.Along("/a/four", []byte("along"), four).While("/a/one", one).Along("/a/five", []byte("too"), five).Create(t.Context(), "/a/three", []byte("ghi"), 0))(t)

	want := map[string]string{"/a/one": "abcd", "/a/two": "while", "/a/three": "ghi", "/a/four": "along", "/a/five": "too"}
	kept, err := m.Range(t.Context(), storage.Range{Prefix: "/a/"})
	if err != nil || len(kept.KVs) != len(want) {
		t.Fatalf("%d values are kept, %v", len(kept.KVs), err)
	}
	for _, kv := range kept.KVs {
		if got, _ := (turned{}).ToStorage(t.Context(), kv.Key, []byte(want[kv.Key])); !bytes.Equal(got, kv.Value) {
			t.Errorf("%s is kept as %q", kv.Key, kv.Value)
		}
	}
	check := func(how string, kv storage.KV) {
		t.Helper()
		if string(kv.Value) != want[kv.Key] || kv.Keeping != storage.Kept {
			t.Errorf("%s shows %s as %q, %d", how, kv.Key, kv.Value, kv.Keeping)
		}
	}
	for key := range want {
		kv, err := s.Get(t.Context(), key)
		if err != nil {
			t.Error(err)
		}
		check("get", kv)
		_, err = s.Create(t.Context(), key, nil, 0)
		check("create", *current(t, err))
		_, err = s.Update(t.Context(), key, nil, kv.Revision+1, 0)
		check("update", *current(t, err))
		_, err = s.Delete(t.Context(), key, kv.Revision+1)
		check("delete", *current(t, err))
		_, err = s.While(key, kv.Revision+1).Create(t.Context(), "/b", nil, 0)
		check("a guard", *current(t, err))
	}
	page, err := s.Range(t.Context(), storage.Range{Prefix: "/a/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range page.KVs {
		check("range", kv)
	}
	if err := s.Scan(t.Context(), storage.Range{Prefix: "/a/"}, func(p storage.Page) error {
		for _, kv := range p.KVs {
			check("scan", kv)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	for rev := int64(0); rev < three; {
		b := <-batches
		for _, ev := range b.Events {
			if ev.Revision >= one && ev.Revision != four && ev.Revision != five {
				check("watch", ev.KV)
			}
		}
		rev = b.Revision
	}
}

func must(rev int64, err error) func(*testing.T) int64 {
	return func(t *testing.T) int64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return rev
	}
}

// current is the present state that a refused write tells.
func current(t *testing.T, err error) *storage.KV {
	t.Helper()
	var e *storage.Error
	if !errors.As(err, &e) || e.Current == nil {
		t.Fatalf("got %v", err)
	}
	return e.Current
}
