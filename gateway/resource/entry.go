package resource

import (
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/storage"
)

// Entry is one revision of one object in the watch cache: the bytes as stored,
// and what was derived from them so far. Everything but the derived parts is
// immutable; derived parts are only ever added, and safe for concurrent use.
type Entry struct {
	// Revision is the revision of this state; for a tombstone that of the
	// deletion.
	Revision int64
	// Stored is the object as the store holds it; of a tombstone, as it held
	// it last.
	Stored []byte

	// last is the state before the deletion, for tombstones only.
	last *Entry

	labels atomic.Pointer[labels.Set]
	views  atomic.Pointer[view]
	flight atomic.Pointer[flight]
}

// view is one derived encoding; the list of them only grows.
type view struct {
	viewKey
	json []byte
	next *view
}

// viewKey says what a view was derived with: another epoch of the definition
// or of its converter makes it worthless.
type viewKey struct {
	definition uint64
	converter  uint64
	version    string
}

// metadataView is the version name under which the metadata-only form is kept.
const metadataView = "\x00metadata"

// flight is a derivation under way.
type flight struct {
	done chan struct{}
	err  error
}

// NewEntry makes the entry of a stored key.
func NewEntry(kv storage.KV) *Entry { return &Entry{Revision: kv.Revision, Stored: kv.Value} }

// Tombstone makes the entry of a deletion from the last state.
func Tombstone(last *Entry, revision int64) *Entry {
	return &Entry{Revision: revision, Stored: last.Stored, last: last}
}

func (e *Entry) view(k viewKey) []byte {
	for v := e.views.Load(); v != nil; v = v.next {
		if v.viewKey == k {
			return v.json
		}
	}
	return nil
}

// addView remembers a view and forgets those of other epochs of the same
// version.
func (e *Entry) addView(k viewKey, json []byte) {
	for {
		head := e.views.Load()
		n := &view{viewKey: k, json: json}
		for v := head; v != nil; v = v.next {
			if v.version != k.version {
				n.next = &view{viewKey: v.viewKey, json: v.json, next: n.next}
			}
		}
		if e.views.CompareAndSwap(head, n) {
			return
		}
	}
}

// storedJSON tells whether the stored form is JSON.
func (e *Entry) storedJSON() bool { return len(e.Stored) > 0 && e.Stored[0] == '{' }

// Labels returns the labels of the stored object. Label edits made by a
// converter are not visible to selectors, so that no selector needs one.
func (e *Entry) labelsOf(r *Resource) labels.Set {
	if l := e.labels.Load(); l != nil {
		return *l
	}
	meta, err := r.metadataJSON(e)
	set := labels.Set{}
	if err == nil {
		if raw := object.Field(meta, "labels"); raw != nil {
			if tree, _, err := object.Parse(raw); err == nil {
				for k, v := range tree {
					if s, ok := v.(string); ok {
						set[k] = s
					}
				}
			}
		}
	}
	e.labels.Store(&set)
	return set
}

// splitKey cuts a key below its bucket into namespace and name.
func splitKey(key string) (namespace, name string) {
	if i := strings.IndexByte(key, '/'); i >= 0 {
		return key[:i], key[i+1:]
	}
	return "", key
}

func joinKey(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
