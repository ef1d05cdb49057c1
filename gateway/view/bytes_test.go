package view

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

// sorted is a CronTab as a gateway stores it.
const sorted = `{"apiVersion":"example.com/v1","host":"h","kind":"CronTab","metadata":{"generation":1,"labels":{"resourceVersion":"7"},"name":"one","uid":"u"},"port":"1"}` + "\n"

// What is read at the version that it is stored at is in memory once, wherever it
// comes from, and what is stored is known to the byte all the same.
func TestAnObjectIsInMemoryOnce(t *testing.T) {
	for name, stored := range map[string]string{
		"as a gateway stores it": sorted,
		"without a line's end":   strings.TrimSuffix(sorted, "\n"),
		"with earlier fields":    `{"apiVersion":"example.com/v1","host":"h","kind":"CronTab","metadata":{"generation":1,"name":"x"},"port":"1"}`,
		"with later fields":      `{"apiVersion":"example.com/v1","host":"h","kind":"CronTab","metadata":{"generation":1,"uid":"x"},"port":"1"}`,
	} {
		s := newShelf(t)
		r := s.cronTabs()
		e := NewEntry(storage.KV{Value: []byte(stored), Revision: 7})
		size := e.Size()
		shown, err := r.View(t.Context(), e, v1)
		if want, _ := object.WithRevision([]byte(strings.TrimSuffix(stored, "\n")), 7); err != nil || !bytes.Equal(shown, want) {
			t.Fatalf("%s: got %s, %v", name, shown, err)
		}
		if e.raw.Load() != nil || e.Size() > size+40 || s.memory.Held() != 0 {
			t.Errorf("%s: %d bytes, before it was read %d, and %d count as derived", name, e.Size(), size, s.memory.Held())
		}
		for _, e := range []*Entry{e, Tombstone(e, 9)} {
			if string(e.Stored()) != stored || !e.IsStoredAs([]byte(stored)) || e.IsStoredAs(shown) || e.StoredSize() != len(stored) {
				t.Errorf("%s: stored %q, %d bytes", name, e.Stored(), e.StoredSize())
			}
			tree, err := r.Decode(e)
			if _, has := tree["metadata"].(map[string]any)["resourceVersion"]; err != nil || has {
				t.Errorf("%s: decoded %v, %v", name, tree, err)
			}
		}
		if e.Shed(); &e.view(r.KeyOf(encoding.At(v1))).data[0] != &shown[0] {
			t.Errorf("%s: another view", name)
		}
		deleted, err := r.View(t.Context(), Tombstone(e, 9), v1)
		if want, _ := object.WithRevision([]byte(strings.TrimSuffix(stored, "\n")), 9); err != nil || !bytes.Equal(deleted, want) || string(e.Stored()) != stored {
			t.Errorf("%s: its deletion shows %s, %v", name, deleted, err)
		}
	}
}

// What is not stored as it is sent is kept as it is stored.
func TestWhatIsSentOtherwiseIsKeptBeside(t *testing.T) {
	for name, stored := range map[string]string{
		"unsorted":                    catalogtest.Tab(v1, "one", "h", "1"),
		"with a field of no schema":   strings.Replace(sorted, `,"kind"`, `,"it":1,"kind"`, 1),
		"with spaces":                 strings.Replace(sorted, ":", ": ", 1),
		"with a revision of its own":  strings.Replace(sorted, `"uid"`, `"resourceVersion":"6","uid"`, 1),
		"with that revision, by name": strings.Replace(sorted, `"uid"`, `"resourceVersion":"7","uid"`, 1),
		"at another version":          catalogtest.Tab(v1beta1, "one", "h", "1"),
	} {
		r := newShelf(t).cronTabs()
		e := NewEntry(storage.KV{Value: []byte(stored), Revision: 7})
		shown, err := r.View(t.Context(), e, v1)
		if err != nil || !bytes.Contains(shown, []byte(`"resourceVersion":"7"`)) || e.whole.Load() != nil || string(e.Stored()) != stored {
			t.Errorf("%s: shown %s, stored %s, %v", name, shown, e.Stored(), err)
		}
	}
}

// A writer's entry and the cache's are one in memory, and of another form of the
// definition the view is made anew, of which only what differs is kept.
func TestWhatIsInMemoryOnceIsHandedOn(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	d, err := r.Draft(t.Context(), r.Def.Version(v1), parse(t, sorted), object.Text{})
	if err == nil {
		_, err = d.View(t.Context(), v1)
	}
	if err != nil {
		t.Fatal(err)
	}
	e, shown, err := d.Committed(7, v1)
	if err != nil || e.raw.Load() != nil || !e.IsStoredAs(d.Stored) {
		t.Fatalf("shown %s, stored %s, %v", shown, e.Stored(), err)
	}
	late := NewEntry(storage.KV{Value: bytes.Clone(d.Stored), Revision: 7})
	if late.Adopt(e); late.raw.Load() != nil || &late.bytes()[0] != &shown[0] {
		t.Error("what the writer has was not adopted")
	}
	again := s.cronTabs()
	got, err := again.View(t.Context(), late, v1)
	if err != nil || &got[0] != &shown[0] || late.view(r.KeyOf(encoding.At(v1))) != nil {
		t.Errorf("another form of the definition: %s, %v", got, err)
	}
	// Who still has the former one remembers nothing.
	if got, err = r.View(t.Context(), late, v1); err != nil || !bytes.Equal(got, shown) || late.views.Load() != nil {
		t.Errorf("the former form: %s, %v", got, err)
	}
}

// While one reads what is stored, another makes it one with what is sent.
func TestMergingWhileOthersRead(t *testing.T) {
	r := newShelf(t).cronTabs()
	for range 200 {
		e := NewEntry(storage.KV{Value: []byte(sorted), Revision: 7})
		other := NewEntry(storage.KV{Value: []byte(sorted), Revision: 7})
		if _, err := r.View(t.Context(), other, v1); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				for range 3 {
					if n == 0 {
						e.Adopt(other)
					} else if _, err := r.View(t.Context(), e, v1); err != nil {
						t.Error(err)
					}
					if _, err := r.Decode(e); err != nil || string(e.Stored()) != sorted || !e.IsStoredAs([]byte(sorted)) {
						t.Errorf("stored %s, %v", e.Stored(), err)
					}
					e.Shed()
				}
			})
		}
		all.Wait()
		if e.raw.Load() != nil {
			t.Fatal("it is there twice")
		}
	}
}

// Whatever is stored, the place of the revision gives it back or there is none; and of
// what is sent as it is stored there is one.
func FuzzPlace(f *testing.F) {
	f.Add([]byte(sorted), []byte("x"), int64(7))
	f.Add([]byte(`{"metadata":{}}`), []byte(`{"metadata":{"resourceVersion":"7"}}`), int64(7))
	f.Add([]byte(`{"a":"\"resourceVersion\":\"7\"","metadata":{"a":1,"z":2}}`), []byte(`"resourceVersion":"7"`), int64(7))
	f.Fuzz(func(t *testing.T, raw, other []byte, revision int64) {
		for _, data := range [][]byte{other, raw} {
			if p, ok := placeIn(data, raw, revision); ok && !bytes.Equal(p.without(data), raw) {
				t.Errorf("%q at %v of %q gives %q", raw, p, data, p.without(data))
			}
		}
		if revision <= 0 || bytes.Contains(raw, []byte("resourceVersion")) {
			return
		}
		data, err := object.WithRevision(bytes.TrimSuffix(raw, []byte("\n")), revision)
		if err != nil {
			return
		}
		if p, ok := placeIn(data, raw, revision); !ok || !bytes.Equal(p.without(data), raw) || p.length(data) != len(raw) || !p.is(data, raw) {
			t.Errorf("%q: %v of %q", raw, p, data)
		}
	})
}
