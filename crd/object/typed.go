package object

import (
	kjson "sigs.k8s.io/json"
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
	data, err := Encode(tree)
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
