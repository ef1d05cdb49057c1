package managedfields

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// maxSetDepth is how deep sets may be nested, read or written: nearly as deep as
// JSON, but an object with a set that is any deeper could not be read again.
const maxSetDepth = rawjson.MaxDepth - 100

var (
	errSetDepth  = errors.New("fieldsV1 is nested too deeply")
	errSetObject = errors.New("fieldsV1 must hold nothing but objects")
)

// readSet reads a fieldsV1 value. It shares no memory with raw.
func readSet(raw []byte) (*fieldpath.Set, error) {
	set, _, end, err := readNode(raw, 0, 0)
	if err := nothingAfter(raw, end, err); err != nil {
		return nil, err
	}
	if set == nil {
		set = &fieldpath.Set{}
	}
	return set, nil
}

// node is one member of a fieldsV1 object.
type node struct {
	element fieldpath.PathElement
	owned   bool
	below   *fieldpath.Set // nil for nothing
}

// readNode reads the object at i. The set is nil when it has no fields in it;
// member says that the node itself is owned, not only what is below it.
func readNode(raw []byte, i, depth int) (set *fieldpath.Set, member bool, end int, err error) {
	if depth > maxSetDepth {
		return nil, false, 0, errSetDepth
	}
	if i = rawjson.Space(raw, i); i < len(raw) && raw[i] == 'n' {
		end, err = rawjson.Skip(raw, i)
		return nil, true, end, err
	}
	w, err := rawjson.Open(raw, i, false)
	if err != nil {
		return nil, false, 0, err
	}
	if !w.IsObject() {
		return nil, false, 0, errSetObject
	}
	var nodes []node
	for w.Next() {
		if rawjson.Equal(w.Key(), ".") {
			member = true
			w.Value()
			continue
		}
		n := node{}
		var known bool
		if n.element, known, err = readElement(w.Key()); err != nil {
			return nil, false, 0, err
		}
		if !known {
			w.Value()
			continue
		}
		if n.below, n.owned, end, err = readNode(raw, w.At(), depth+1); err != nil {
			return nil, false, 0, err
		}
		w.Resume(end)
		nodes = append(nodes, n)
	}
	return setOf(nodes), member || len(nodes) == 0, w.End(), w.Err()
}

// setOf makes a set of members, nil of none; of several of one name the last
// one counts. They are put in order first: each would otherwise move all that
// come after it, and clients can send very many.
func setOf(nodes []node) *fieldpath.Set {
	if len(nodes) == 0 {
		return nil
	}
	inOrder := func(a, b node) int { return a.element.Compare(b.element) }
	if !slices.IsSortedFunc(nodes, inOrder) {
		slices.SortStableFunc(nodes, inOrder)
	}
	set := &fieldpath.Set{Members: fieldpath.MakePathElementSet(len(nodes))}
	for _, n := range nodes {
		if n.owned {
			set.Members.Insert(n.element)
		}
		if n.below != nil {
			*set.Children.Descend(n.element) = *n.below
		}
	}
	return set
}

// readElement reads one key of a fieldsV1 object. Kinds of elements that are
// not known are to be ignored.
func readElement(key []byte) (pe fieldpath.PathElement, known bool, err error) {
	text := rawjson.Unescape(key)
	if len(text) >= 2 && text[:2] == "f:" {
		name := text[2:]
		return fieldpath.PathElement{FieldName: &name}, true, nil
	}
	if len(text) > 2 && (text[:2] == "k:" || text[:2] == "v:") {
		value := []byte(text[2:])
		end, err := rawjson.Skip(value, 0)
		if err != nil {
			return pe, false, err
		}
		if rawjson.Space(value, end) != len(value) {
			return pe, false, rawjson.ErrSyntax
		}
	}
	pe, err = fieldpath.DeserializePathElement(text)
	if errors.Is(err, fieldpath.ErrUnknownPathElementType) {
		return pe, false, nil
	}
	if err != nil {
		return pe, false, fmt.Errorf("fieldsV1: %w", err)
	}
	return pe, true, nil
}

// appendHTMLSafe escapes what encoding/json escapes in the JSON that others
// made.
func appendHTMLSafe(dst, raw []byte) []byte {
	if !bytes.ContainsAny(raw, "<>&\u2028\u2029") {
		return append(dst, raw...)
	}
	for _, r := range string(raw) {
		switch r {
		case '<', '>', '&', '\u2028', '\u2029':
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = append(dst, string(r)...)
		}
	}
	return dst
}
