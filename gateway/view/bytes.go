package view

import (
	"bytes"
	"strconv"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// whole is the view at the version that an object is stored at, seen to be what is
// stored but for the resourceVersion: so it is in memory once, and what is stored is what
// remains without that.
type whole struct {
	view
	place place
}

// place is where the resourceVersion is in an object that is otherwise as it is stored.
type place struct {
	at      uint32
	width   uint8 // with the comma that goes with it
	newline bool  // what is stored ends with one
}

// without is what is stored.
func (p place) without(data []byte) []byte {
	out := append(make([]byte, 0, p.length(data)), data[:p.at]...)
	out = append(out, data[p.at+uint32(p.width):]...)
	if p.newline {
		out = append(out, '\n')
	}
	return out
}

func (p place) length(data []byte) int {
	n := len(data) - int(p.width)
	if p.newline {
		n++
	}
	return n
}

// is tells whether what is stored is raw.
func (p place) is(data, raw []byte) bool {
	if len(raw) != p.length(data) || p.newline && raw[len(raw)-1] != '\n' {
		return false
	}
	return bytes.Equal(raw[:p.at], data[:p.at]) && bytes.HasPrefix(raw[p.at:], data[p.at+uint32(p.width):])
}

// placeIn finds where data, an object at a revision, has what raw has not; false if
// that is not all in which they differ, or is hard to see.
func placeIn(data, raw []byte, revision int64) (p place, ok bool) {
	if uint64(len(data)) >= 1<<32 {
		return p, false
	}
	var field [len(`"resourceVersion":""`) + 20]byte
	text := append(strconv.AppendInt(append(field[:0], `"resourceVersion":"`...), revision, 10), '"')
	p.newline = bytes.HasSuffix(raw, []byte("\n"))
	end := 0
	for range maxLookalikes {
		next := bytes.Index(data[end:], text)
		if next < 0 || end+next == 0 {
			break
		}
		at := end + next
		end = at + len(text)
		after := end
		switch {
		case end < len(data) && data[end] == ',':
			after++
		case data[at-1] == ',':
			at--
		}
		p.at, p.width = uint32(at), uint8(after-at)
		if p.is(data, raw) {
			return p, true
		}
	}
	return p, false
}

// maxLookalikes is how many places are looked at: a label may say the same.
const maxLookalikes = 3

// bytes is the object as the store holds it, perhaps with its resourceVersion. It is
// shared and must not be changed.
func (e *Entry) bytes() []byte {
	e = e.base()
	if raw := e.raw.Load(); raw != nil {
		return *raw
	}
	return e.whole.Load().data
}

// Stored is the object as the store holds it; of a tombstone, as it held it last. It
// must not be changed.
func (e *Entry) Stored() []byte {
	e = e.base()
	if raw := e.raw.Load(); raw != nil {
		return *raw
	}
	w := e.whole.Load()
	return w.place.without(w.data)
}

// IsStoredAs tells whether Stored is value.
func (e *Entry) IsStoredAs(value []byte) bool {
	e = e.base()
	if raw := e.raw.Load(); raw != nil {
		return bytes.Equal(*raw, value)
	}
	w := e.whole.Load()
	return w.place.is(w.data, value)
}

// StoredSize is how many bytes Stored has.
func (e *Entry) StoredSize() int {
	e = e.base()
	if raw := e.raw.Load(); raw != nil {
		return len(*raw)
	}
	w := e.whole.Load()
	return w.place.length(w.data)
}

// Decode decodes what is stored.
func (r Stored) Decode(e *Entry) (map[string]any, error) {
	// Not what has the resourceVersion, which many a map of metadata has no room for.
	tree, err := r.Def.Codec.Decode(e.Stored())
	if err != nil {
		return nil, r.Unreadable(e, err)
	}
	return tree, nil
}

// merge makes data, a view of e that no converter made, the memory of what is stored,
// where that is the same but for the resourceVersion, and returns the view that is
// remembered then; nil where it is not.
func (e *Entry) merge(k Key, data encoding.Text) *view {
	if e.last != nil || k.Encoding != encoding.At(k.Version) || !e.storedJSON() {
		return nil
	}
	for {
		raw := e.raw.Load() // before the other, which takes its place
		before := e.whole.Load()
		if before != nil && before.Key == k {
			return &before.view
		}
		var at place
		if before == nil {
			var ok bool
			if at, ok = placeIn(data, *raw, e.Revision); !ok {
				return nil
			}
		} else if before.definition > k.definition || !bytes.Equal(before.data, data) {
			return nil
		} else {
			at, data = before.place, before.data
		}
		w := &whole{view: view{Key: k, data: data}, place: at}
		if e.whole.CompareAndSwap(before, w) {
			e.raw.Store(nil) // after it: who finds neither finds nothing
			return &w.view
		}
	}
}

// StateOf makes an entry, outside of any cache, of what is stored at a revision.
func StateOf(stored []byte, revision int64) *Entry {
	e := &Entry{Revision: revision}
	e.raw.Store(&stored)
	return e
}

// JSON is what is stored as JSON, in whatever form it is.
func (r Stored) JSON(e *Entry) ([]byte, error) {
	if e.storedJSON() {
		return e.Stored(), nil
	}
	tree, _, err := r.restoreTree(e)
	if err != nil {
		return nil, err
	}
	return object.Encode(tree)
}
