package storagetest

import (
	"testing"

	"github.com/wasmgate/wasmgate/storage"
)

func TestMemoryConforms(t *testing.T) {
	m := NewMemory()
	Run(t, Options{Store: m, Compact: m.Compact})
}

// A watch is told how far the store is once for each time that somebody asks, while
// it has nothing else to say, and not before the store has come to its beginning.
func TestMemoryTellsProgressWhenAsked(t *testing.T) {
	m := NewMemory()
	now := m.Apply(storage.Event{KV: storage.KV{Key: "/other"}})
	step := func(w *memoryWatch) storage.Batch {
		t.Helper()
		b, _, err := w.step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	want := func(w *memoryWatch, revision int64, events int) {
		t.Helper()
		if b := step(w); b.Revision != revision || len(b.Events) != events {
			t.Errorf("%d events at revision %d, want %d at %d", len(b.Events), b.Revision, events, revision)
		}
	}
	ask := func() {
		t.Helper()
		if err := m.RequestProgress(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	watch := func(from int64) *memoryWatch {
		return &memoryWatch{m: m, prefix: "/in/", next: from, asked: m.asked, broken: m.broken}
	}
	present, next, later := watch(now), watch(now+1), watch(now+2)
	want(present, 0, 0) // nobody asked
	for range 2 {
		ask()
		want(present, now, 0)
		want(present, 0, 0)
	}
	want(next, now, 0)
	want(later, 0, 0)
	put := m.Apply(storage.Event{KV: storage.KV{Key: "/in/a"}})
	ask()
	want(present, put, 1)
	want(present, 0, 0) // the events said it
	want(next, put, 1)
	want(later, put, 0) // which begins behind it
}
