package resource

import (
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/fields"
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

	labels  atomic.Pointer[labels.Set]
	views   atomic.Pointer[viewNode]
	flights atomic.Pointer[flightNode]
}

// view is one derived encoding.
type view struct {
	viewKey
	json []byte
	// fields are what field selectors ask for, made when they first do.
	fields atomic.Pointer[fields.Set]
}

// viewNode is a list of views. It is replaced, never changed.
type viewNode struct {
	*view
	next *viewNode
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

// NewEntry makes the entry of a stored key.
func NewEntry(kv storage.KV) *Entry { return &Entry{Revision: kv.Revision, Stored: kv.Value} }

// Tombstone makes the entry of a deletion from the last state.
func Tombstone(last *Entry, revision int64) *Entry {
	return &Entry{Revision: revision, Stored: last.Stored, last: last}
}

// base is the state whose bytes e shows: e itself, or for a tombstone the last.
func (e *Entry) base() *Entry {
	if e.last != nil {
		return e.last
	}
	return e
}

func (e *Entry) view(k viewKey) *view {
	for n := e.views.Load(); n != nil; n = n.next {
		if n.viewKey == k {
			return n.view
		}
	}
	return nil
}

// addView remembers a view in place of those of earlier epochs of the same
// version. Who still serves a former form of the definition must not push out
// what its successor derived: then nothing is remembered.
func (e *Entry) addView(k viewKey, json []byte) {
	added := &view{viewKey: k, json: json}
	for {
		head := e.views.Load()
		next := &viewNode{view: added}
		for n := head; n != nil; n = n.next {
			switch {
			case n.version != k.version:
				next.next = &viewNode{view: n.view, next: next.next}
			case n.definition > k.definition:
				return
			}
		}
		if e.views.CompareAndSwap(head, next) {
			return
		}
	}
}

// storedJSON tells whether the stored form is JSON.
func (e *Entry) storedJSON() bool { return len(e.Stored) > 0 && e.Stored[0] == '{' }

// labelsOf returns the labels of the stored object. Label edits made by a
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
