package proof

import (
	"encoding/json"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Difference is a field that is not the same in two objects.
type Difference struct {
	// Field is its path, with [*] for any item of a list and any key of a map.
	Field string
	// A and B are its values, as JSON; "" is for what is not there.
	A, B string
}

// Differences are the fields that differ in two objects of one version, 100 at most. Of
// metadata, labels and annotations are compared, as converters may change no other.
func Differences(v *crd.Version, a, b []byte) (all []Difference, err error) {
	var trees [2]map[string]any
	for i, data := range [][]byte{a, b} {
		if trees[i], _, err = object.Parse(data); err != nil {
			return nil, err
		}
	}
	p := paths{v.OpenAPISchema()}
	for _, d := range differences(comparable(trees[0]), comparable(trees[1])) {
		one := Difference{Field: p.of(d.place)}
		if one.A, err = valueText(d.had, d.hasHad); err != nil {
			return nil, err
		}
		if one.B, err = valueText(d.got, d.hasGot); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Change is a place at which two values differ.
type Change struct {
	// Place is where: names and keys as strings, items of lists by number.
	Place []any
	// Had and Has tell whether there is something, in the first and in the second.
	Had, Has bool
}

// Changes tells of all places at which two JSON values differ, those of an object in the
// order of their names, until told wants no more.
func Changes(a, b any, told func(Change) bool) {
	walk(a, b, nil, func(d difference) bool { return told(Change{d.place, d.hasHad, d.hasGot}) })
}

func valueText(v any, there bool) (string, error) {
	if !there {
		return "", nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}
