package object

import (
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// maxNamingWork is the most bytes of paths that a library is allowed to build
// in order to name fields.
const maxNamingWork = 64 << 20

// TooLongToName is what is reported instead of unknown fields where
// [CanName] says no.
const TooLongToName = "the names of its fields are too long to tell which of them are unknown"

// CanName says whether the paths of all fields of a tree are short enough,
// together, to be built. The libraries that find unknown fields build the path
// of each, so that a long name above many of them would cost hours or all of
// the memory.
func CanName(tree any) bool {
	left := maxNamingWork
	spend(tree, 0, &left)
	return left >= 0
}

// spend subtracts the lengths of the paths of all fields below a path.
func spend(v any, path int, left *int) {
	switch x := v.(type) {
	case map[string]any:
		for k, child := range x {
			below := path + len(k) + len(".")
			if *left -= below; *left < 0 {
				return
			}
			spend(child, below, left)
		}
	case []any:
		for _, child := range x {
			spend(child, path+len("[0000]"), left)
		}
	}
}

// DecodeTyped reads a tree into a typed object, and returns what it does not
// know of it in Kubernetes' wording ('unknown field "spec.x"'). The error is
// that of sigs.k8s.io/json.
func DecodeTyped(tree map[string]any, into any) (unknown []string, err error) {
	data, err := EncodeTyped(tree)
	if err != nil {
		return nil, err
	}
	if !CanName(tree) {
		return []string{TooLongToName}, kjson.UnmarshalCaseSensitivePreserveInts(data, into)
	}
	strict, err := kjson.UnmarshalStrict(data, into)
	for _, e := range strict {
		unknown = append(unknown, e.Error())
	}
	return unknown, err
}

// Problems returns what a typed object does not know of a JSON text, and what
// that has twice, in the order and the words in which sigs.k8s.io/json finds
// them; nothing where the names would be too long. The text must have been read
// without an error, and all of it is read again: also what its fields that it has
// twice say first, of which no tree knows.
func Problems(text []byte, into any) (found []string) {
	left := maxNamingWork
	if spendText(text, 0, 0, &left); left < 0 {
		return nil
	}
	strict, _ := kjson.UnmarshalStrict(text, into)
	for _, e := range strict {
		found = append(found, e.Error())
	}
	return found
}

// spendText does as [spend] with the value at i of a JSON text, whose fields
// may be there twice, and returns where the value ends.
func spendText(text []byte, i, path int, left *int) int {
	w, err := rawjson.Open(text, i, true)
	if err != nil { // no container
		return rawjson.Pass(text, i)
	}
	for w.Next() {
		below := path + len("[0000]")
		if w.IsObject() {
			below = path + len(w.Key()) + len(".")
			if *left -= below; *left < 0 {
				return len(text)
			}
		}
		w.Resume(spendText(text, w.At(), below, left))
	}
	return w.End()
}
