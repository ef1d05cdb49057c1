package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // other digits are another value
	return d.Decode(into)
}

// change is what differs at a path, in a word of [module.Place].
type change struct{ path, what string }

// maxChanges is how many changes of one object are looked for.
const maxChanges = 1000

// changes are where two JSON objects differ, in the order of their keys, each
// once: all elements of an array have the same path.
func changes(now, next []byte) (found []change) {
	var a, b any
	if errors.Join(decode(now, &a), decode(next, &b)) != nil {
		return []change{{named(nil), module.Unreadable}}
	}
	seen := map[change]bool{}
	proof.Changes(a, b, func(p proof.Change) bool {
		if c := changeOf(p); !seen[c] {
			seen[c] = true
			found = append(found, c)
		}
		return len(found) < maxChanges
	})
	return found
}

// changeOf says what differs: of an array that has another number of elements, that.
func changeOf(p proof.Change) change {
	switch last := len(p.Place) - 1; {
	case p.Had && p.Has:
		return change{named(p.Place), module.Changed}
	case isElement(p.Place[last]):
		return change{named(p.Place[:last]), module.Resized}
	case p.Had:
		return change{named(p.Place), module.Gone}
	}
	return change{named(p.Place), module.Added}
}

// isElement tells that a step leads to an element of an array.
func isElement(step any) bool {
	_, is := step.(int)
	return is
}

// maxPath bounds a path in a report, in bytes.
const maxPath = 200

var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// named is a path as people write it, with [*] for any element of an array.
func named(place []any) string {
	if len(place) == 0 {
		return "the object"
	}
	var text strings.Builder
	for i, step := range place {
		field, _ := step.(string)
		switch {
		case isElement(step):
			text.WriteString("[*]")
		case !plain.MatchString(field):
			text.WriteString("[" + strconv.Quote(field) + "]")
		case i > 0:
			text.WriteString("." + field)
		default:
			text.WriteString(field)
		}
		if text.Len() > maxPath {
			return excerpt.Of(text.String(), maxPath)
		}
	}
	return text.String()
}
