package object

import (
	"errors"
	"slices"
	"strconv"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// ErrSyntax is returned by the functions that look into encoded objects for
// bytes that are not the JSON they expect. These are bytes that this program
// or its peer has stored, so what is not looked at is not checked.
var ErrSyntax = errors.New("object: malformed JSON")

// Field returns the value of one top-level field of an encoded object, nil when
// it is absent or data is malformed before it.
func Field(data []byte, name string) []byte {
	w, err := rawjson.Open(data, 0, true)
	if err != nil {
		return nil
	}
	for w.Next() {
		value := w.Value()
		if string(w.Key()) == name {
			return value
		}
	}
	return nil
}

// EachField calls fn with the fields of an encoded object, in their order, until
// it returns false. It tells whether it never did, and data is an object.
func EachField(data []byte, fn func(name string, value []byte) bool) bool {
	w, err := rawjson.Open(data, 0, true)
	if err != nil || !w.IsObject() {
		return false
	}
	for w.Next() {
		value := w.Value()
		if !fn(rawjson.Unescape(w.Key()), value) {
			return false
		}
	}
	return w.Err() == nil
}

// String decodes a JSON string value; ok is false for anything else.
func String(v []byte) (s string, ok bool) { return rawjson.String(v) }

// Metadata returns the span of the top-level metadata object.
func Metadata(data []byte) (start, end int, err error) {
	w, err := rawjson.Open(data, 0, true)
	if err != nil {
		return 0, 0, ErrSyntax
	}
	for w.Next() {
		start = w.At()
		value := w.Value()
		if string(w.Key()) != "metadata" {
			continue
		}
		if len(value) == 0 || value[0] != '{' {
			break
		}
		return start, start + len(value), nil
	}
	return 0, 0, ErrSyntax
}

// WithMetadata returns a copy of the object data with meta, which may be nil, as
// its metadata. It has room for one more byte.
func WithMetadata(data []byte, meta map[string]any) ([]byte, error) {
	s, e, err := Metadata(data)
	if err != nil {
		return nil, err
	}
	text, err := Encode(meta)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(data)-(e-s)+len(text)+1), data[:s]...)
	return append(append(out, text...), data[e:]...), nil
}

const revisionField = "resourceVersion"

// SetRevision sets metadata.resourceVersion of a tree, which gets metadata if it
// has none. Revision 0 is that of what is not stored: it is not said.
func SetRevision(tree map[string]any, rev int64) {
	meta, ok := tree["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		tree["metadata"] = meta
	}
	if rev == 0 {
		delete(meta, revisionField)
		return
	}
	meta[revisionField] = strconv.FormatInt(rev, 10)
}

// AppendMetadata appends a metadata object with its resourceVersion set to
// rev, wherever it was set before, or without one if rev is 0; the other fields
// are copied as they are.
func AppendMetadata(dst, metadata []byte, rev int64) ([]byte, error) {
	w, err := rawjson.Open(metadata, 0, true)
	if err != nil || !w.IsObject() {
		return nil, ErrSyntax
	}
	dst = append(dst, '{')
	start, placed := len(dst), rev == 0
	for w.Next() {
		key, value := w.Key(), w.Value()
		if string(key) == revisionField {
			continue
		}
		if !placed && string(key) > revisionField {
			dst, placed = appendRevision(dst, start, rev), true
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), key...), `":`...)
		dst = append(dst, value...)
	}
	if w.Err() != nil {
		return nil, ErrSyntax
	}
	if !placed {
		dst = appendRevision(dst, start, rev)
	}
	return append(dst, '}'), nil
}

// appendRevision appends the field to an object whose fields begin at start.
func appendRevision(dst []byte, start int, rev int64) []byte {
	if len(dst) > start {
		dst = append(dst, ',')
	}
	dst = append(dst, `"resourceVersion":"`...)
	return append(strconv.AppendInt(dst, rev, 10), '"')
}

// WithRevision returns a copy of the object data with
// metadata.resourceVersion set to rev.
func WithRevision(data []byte, rev int64) ([]byte, error) {
	at, err := startOf(data, "metadata")
	if err != nil {
		return nil, err
	}
	w, err := rawjson.Open(data, at, true)
	if err != nil || !w.IsObject() {
		return nil, ErrSyntax
	}
	first := at + 1 // where fields begin
	place := 0      // after which the field belongs
	end := first
	for w.Next() {
		if string(w.Key()) == revisionField {
			return setRevision(data, at, rev)
		}
		if place == 0 && string(w.Key()) > revisionField {
			place = end
		}
		end = w.At() + len(w.Value())
	}
	if w.Err() != nil {
		return nil, ErrSyntax
	}
	if place == 0 {
		place = end
	}
	out := append(make([]byte, 0, len(data)+40), data[:place]...)
	if place > first {
		out = append(out, ',')
	}
	out = appendRevision(out, len(out), rev)
	if place == first && end > first {
		out = append(out, ',')
	}
	return append(out, data[place:]...), nil
}

// setRevision is WithRevision of an object whose metadata, at a position, has
// one.
func setRevision(data []byte, at int, rev int64) ([]byte, error) {
	end := rawjson.Pass(data, at)
	out := append(make([]byte, 0, len(data)+20), data[:at]...)
	out, err := AppendMetadata(out, data[at:end], rev)
	if err != nil {
		return nil, err
	}
	return append(out, data[end:]...), nil
}

// startOf is where the value of a top-level field begins.
func startOf(data []byte, name string) (int, error) {
	w, err := rawjson.Open(data, 0, true)
	if err != nil {
		return 0, ErrSyntax
	}
	for w.Next() {
		if string(w.Key()) == name {
			return w.At(), nil
		}
		w.Value()
	}
	return 0, ErrSyntax
}

// Fields returns the values of several top-level fields of an encoded object,
// in the order of names; nil for one that is absent, or when data is malformed
// before it. It reads data once.
func Fields(data []byte, names ...string) [][]byte {
	out := make([][]byte, len(names))
	w, err := rawjson.Open(data, 0, true)
	if err != nil {
		return out
	}
	for w.Next() {
		value := w.Value()
		if i := slices.Index(names, string(w.Key())); i >= 0 {
			out[i] = value
		}
	}
	return out
}
