package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
func changes(now, next []byte) []change {
	var a, b any
	if errors.Join(decode(now, &a), decode(next, &b)) != nil {
		return []change{{named(nil), module.Unreadable}}
	}
	w := walk{seen: map[change]bool{}}
	w.values(a, b)
	return w.found
}

// walk is a comparison of two JSON values.
type walk struct {
	path  []step // of what is being compared
	found []change
	seen  map[change]bool
}

func (w *walk) note(what string) {
	c := change{named(w.path), what}
	if !w.seen[c] && len(w.found) < maxChanges {
		w.seen[c] = true
		w.found = append(w.found, c)
	}
}

// at does something with the path extended by a step.
func (w *walk) at(s step, do func()) {
	w.path = append(w.path, s)
	do()
	w.path = w.path[:len(w.path)-1]
}

func (w *walk) values(now, next any) {
	switch a := now.(type) {
	case map[string]any:
		if b, ok := next.(map[string]any); ok {
			w.objects(a, b)
			return
		}
	case []any:
		if b, ok := next.([]any); ok {
			w.arrays(a, b)
			return
		}
	default:
		if !isContainer(next) && now == next {
			return
		}
	}
	w.note(module.Changed)
}

func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func (w *walk) objects(a, b map[string]any) {
	keys := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		x, had := a[key]
		y, has := b[key]
		w.at(step{field: key}, func() {
			switch {
			case !has:
				w.note(module.Gone)
			case !had:
				w.note(module.Added)
			default:
				w.values(x, y)
			}
		})
	}
}

func (w *walk) arrays(a, b []any) {
	w.at(step{element: true}, func() {
		for i := range min(len(a), len(b)) {
			w.values(a[i], b[i])
		}
	})
	if len(a) != len(b) {
		w.note(module.Resized)
	}
}

// step leads to a field, or to any element of an array.
type step struct {
	field   string
	element bool
}

// maxPath bounds a path in a report, in bytes.
const maxPath = 200

var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// named is a path as people write it.
func named(path []step) string {
	if len(path) == 0 {
		return "the object"
	}
	var text strings.Builder
	for i, s := range path {
		switch {
		case s.element:
			text.WriteString("[*]")
		case !plain.MatchString(s.field):
			text.WriteString("[" + strconv.Quote(s.field) + "]")
		case i > 0:
			text.WriteString("." + s.field)
		default:
			text.WriteString(s.field)
		}
		if text.Len() > maxPath {
			return strings.ToValidUTF8(text.String()[:maxPath], "") + "..."
		}
	}
	return text.String()
}
