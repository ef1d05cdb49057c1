package view

import (
	"bytes"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/storage"
)

// Entry is one revision of one object in the watch cache: what is stored,
// and what was derived from it so far. Derived parts are added and given up, safe
// for concurrent use; nothing else ever changes.
type Entry struct {
	// Revision is the revision of this state; for a tombstone that of the
	// deletion.
	Revision int64
	// last is the state before the deletion, for tombstones only.
	last *Entry

	// id is unique in this process.
	id uint64

	// raw is the object as it is stored, until whole, once it is there, says that
	// too. A tombstone has neither.
	raw   atomic.Pointer[[]byte]
	whole atomic.Pointer[whole]

	labels atomic.Pointer[labels.Set]
	views  atomic.Pointer[viewNode]
	// canonical is Stored as a message, once it was seen that reading Stored and
	// writing it again gives Stored.
	canonical atomic.Pointer[canonicalMessage]
	kept      atomic.Pointer[[]Kept]
	flights   atomic.Pointer[flightNode]
	refused   atomic.Pointer[refusal]
}

// NewEntry makes the entry of a stored key.
func NewEntry(kv storage.KV) *Entry {
	if kv.Keeping == storage.Unreadable {
		kv.Value = sealed
	}
	e := StateOf(kv.Value, kv.Revision)
	e.id = ids.Add(1)
	return e
}

var ids atomic.Uint64

// Sealed tells that what is stored is encrypted, and could not be decrypted.
func (e *Entry) Sealed() bool { return bytes.HasPrefix(e.bytes(), sealed) }

// sealed begins what is encrypted (k8s.io/apiserver/pkg/storage/value), and no object
// as it is stored. It stands for what could not be decrypted.
var sealed = []byte("k8s:enc:")

// ID is unique in this process, but for tombstones.
func (e *Entry) ID() uint64 { return e.id }

// Tombstone makes the entry of a deletion from the last state.
func Tombstone(last *Entry, revision int64) *Entry {
	return &Entry{Revision: revision, last: last}
}

// Size is about how many bytes of memory the entry holds now, with all that
// was derived from it. A tombstone shares its bytes with the last state.
func (e *Entry) Size() int {
	n := fixedBytes + e.derived()
	if e.last == nil {
		n += len(e.bytes())
	}
	return n
}

const (
	// fixedBytes is about what an entry costs, or something that was derived of
	// it, besides its bytes, and labelBytes what a label or a field does.
	fixedBytes = 128
	labelBytes = 64
)

// derived is the part of Size that [Entry.Shed] gives up.
func (e *Entry) derived() (n int) {
	for v := e.views.Load(); v != nil; v = v.next {
		n += v.size()
	}
	if w := e.whole.Load(); w != nil {
		n += w.fieldsSize()
	}
	for _, k := range e.Kept() {
		n += k.Size()
	}
	if e.canonical.Load() != nil {
		n += fixedBytes
	}
	if set := e.labels.Load(); set != nil {
		n += labelBytes * len(*set)
	}
	return n
}

// Shed gives up what was derived, which is derived again when it is asked for.
func (e *Entry) Shed() {
	e.views.Store(nil)
	if w := e.whole.Load(); w != nil {
		w.more.Store(nil)
	}
	e.labels.Store(nil)
	e.kept.Store(nil)
	e.canonical.Store(nil)
	e.refused.Store(nil)
}

// Adopt takes over what was derived from other, which must be the same
// revision of the same object: a writer's entry and the one that the cache
// made of the same bytes.
func (e *Entry) Adopt(other *Entry) {
	if w := other.whole.Load(); w != nil {
		if e.merge(w.Key, w.data) == nil && e.view(w.Key) == nil {
			e.addView(&view{Key: w.Key, data: w.data})
		}
	}
	for n := other.views.Load(); n != nil; n = n.next {
		if e.view(n.Key) == nil {
			adopted := &view{Key: n.Key, data: n.data, converted: n.converted}
			adopted.more.Store(n.more.Load())
			e.addView(adopted)
		}
	}
	if e.canonical.Load() == nil {
		e.canonical.CompareAndSwap(nil, other.canonical.Load().canonicalIn(e))
	}
}

// base is the state whose bytes e shows: e itself, or for a tombstone the last.
func (e *Entry) base() *Entry {
	if e.last != nil {
		return e.last
	}
	return e
}

// storedJSON tells whether the stored form is JSON. Every other stored form
// begins with a magic number that no JSON object begins with.
func (e *Entry) storedJSON() bool { return isJSON(e.bytes()) }

func isJSON(stored []byte) bool { return len(stored) > 0 && stored[0] == '{' }
