package view

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Key says what a view was derived with: another epoch of the definition
// or of its converter makes it worthless.
type Key struct {
	definition uint64
	converter  uint64
	encoding.Encoding
}

// view is one derived encoding. Its bytes are shared and never changed. Of a message,
// whose resourceVersion is not to be trusted, it has no revision.
type view struct {
	Key
	data encoding.Text
	// converted: a converter made it.
	converted bool
	more      atomic.Pointer[more]
}

// more is what is made of a view.
type more struct {
	// fields are what field selectors ask for of JSON, made when they first do.
	fields fields.Set
	// object is what is sent of any other media type, at the revision of the entry.
	object encoding.Object
}

// of is the object at the revision of e, which has the view or is a tombstone of who
// has.
func (v *view) of(e *Entry) (encoding.Object, error) {
	if m := v.more.Load(); e.last == nil && m != nil && m.object != nil {
		return m.object, nil
	}
	return v.Media.Keeper().Object(v.data, e.Revision)
}

// size is about how many bytes of memory the view takes.
func (v *view) size() int {
	return fixedBytes + len(v.data) + v.fieldsSize()
}

func (v *view) fieldsSize() int {
	if m := v.more.Load(); m != nil {
		return labelBytes * len(m.fields)
	}
	return 0
}

// viewNode is a list of views. It is replaced, never changed.
type viewNode struct {
	*view
	next *viewNode
}

func (e *Entry) view(k Key) *view {
	if w := e.whole.Load(); w != nil && w.Key == k {
		return &w.view
	}
	for n := e.views.Load(); n != nil; n = n.next {
		if n.Key == k {
			return n.view
		}
	}
	return nil
}

// addView remembers a view in place of those of earlier epochs of the same
// encoding. Who still serves a former form of the definition must not push out
// what its successor derived: then nothing is remembered.
func (e *Entry) addView(added *view) {
	k := added.Key
	if w := e.whole.Load(); w != nil && w.Encoding == k.Encoding && w.definition > k.definition {
		return
	}
	for {
		head := e.views.Load()
		next := &viewNode{view: added}
		for n := head; n != nil; n = n.next {
			switch {
			case n.Encoding != k.Encoding:
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

// Converted reports whether a converter made the view that e remembers of a key.
func (e *Entry) Converted(k Key) bool {
	v := e.view(k)
	return v != nil && v.converted
}
