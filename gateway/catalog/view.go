package catalog

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/fields"
)

// form is which part of an object a view shows.
type form uint8

const (
	// whole is the object itself.
	whole form = iota
	// metadata is the object as PartialObjectMetadata, which is the same at
	// every version.
	metadata
)

// media is how a view is encoded.
type media uint8

const (
	// asJSON is canonical JSON: sorted fields, no spaces.
	asJSON media = iota
	// asProtobuf is the bare message of the object, whose resourceVersion is
	// not to be trusted; of form metadata that of a PartialObjectMetadata. What
	// is stored so already is not remembered as a view.
	asProtobuf
)

// encoding says what a view shows: an object at a version, in a form, in a
// media type.
type encoding struct {
	version string // "" in form metadata
	form    form
	media   media
}

// viewKey says what a view was derived with: another epoch of the definition
// or of its converter makes it worthless.
type viewKey struct {
	definition uint64
	converter  uint64
	encoding
}

// view is one derived encoding. Its bytes are shared and never changed.
type view struct {
	viewKey
	data []byte
	// converted: a converter made it.
	converted bool
	// fields are what field selectors ask for, made when they first do.
	fields atomic.Pointer[fields.Set]
}

// size is about how many bytes of memory the view takes.
func (v *view) size() int {
	n := fixedBytes + len(v.data)
	if set := v.fields.Load(); set != nil {
		n += labelBytes * len(*set)
	}
	return n
}

// viewNode is a list of views. It is replaced, never changed.
type viewNode struct {
	*view
	next *viewNode
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
// encoding. Who still serves a former form of the definition must not push out
// what its successor derived: then nothing is remembered.
func (e *Entry) addView(added *view) {
	k := added.viewKey
	for {
		head := e.views.Load()
		next := &viewNode{view: added}
		for n := head; n != nil; n = n.next {
			switch {
			case n.encoding != k.encoding:
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
