package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// walk compares what corresponds to each other: two objects, lists or scalars, which
// stand at the same place by now.
func (w *work) walk(at []string, a, b *schema, level int) {
	if w.walked++; a == nil || b == nil || level > maxLevels || w.walked > maxFields {
		w.cut = w.cut || a != nil && b != nil
		return
	}
	if all := stricter(a, b); len(all) > 0 && kind(a) == kind(b) {
		w.remark(at, "%s asks for more than %s, so that some values may not be valid there: %s", w.to, w.from, strings.Join(all, ", "))
	}
	switch {
	case kind(a) != kind(b):
		w.retype(at, a, b)
	case kind(a) == "object":
		w.properties(at, a, b, level)
		if a.AdditionalProperties != nil && b.AdditionalProperties != nil {
			w.walk(below(at, item), a.AdditionalProperties.Schema, b.AdditionalProperties.Schema, level+1)
		}
	case kind(a) == "array":
		w.walk(below(at, item), items(a), items(b), level+1)
	default:
		w.values(at, a, b)
	}
}

func (w *work) properties(at []string, a, b *schema, level int) {
	unnamed(w, at, a, b)
	for _, name := range slices.Sorted(maps.Keys(a.Properties)) {
		if len(at) == 0 && reserved(name) {
			continue
		}
		one := a.Properties[name]
		steps := below(at, name)
		other, shared := b.Properties[name]
		if twinned(w.twins, steps, twin.old) {
			if shared && !twinned(w.twins, steps, twin.new) {
				w.gather(&w.fresh, steps, &other, slices.Contains(b.Required, name), level+1, true)
			}
			continue
		}
		if !shared || !alike(&one, &other) {
			was := steps
			var namesake *unit
			if shared {
				was = w.aside(steps)
				namesake = w.gather(&w.fresh, steps, &other, slices.Contains(b.Required, name), level+1, true)
			}
			if u := w.gather(&w.gone, was, &one, slices.Contains(a.Required, name), level+1, true); u != nil {
				u.heir, u.held = heir(at, name, a, b), !shared && preserves(b)
				pair(w, u, namesake)
			}
			continue
		}
		w.walk(steps, &one, &other, level+1)
		if slices.Contains(b.Required, name) && !slices.Contains(a.Required, name) && one.Default == nil && other.Default == nil {
			w.early(steps, w.require(steps, &other))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Properties)) {
		if _, shared := a.Properties[name]; shared || len(at) == 0 && reserved(name) || twinned(w.twins, below(at, name), twin.new) {
			continue
		}
		one := b.Properties[name]
		if u := w.gather(&w.fresh, below(at, name), &one, slices.Contains(b.Required, name), level+1, true); u != nil {
			u.held = preserves(a)
		}
	}
}

// heir is a field that both versions have beside one that goes away, whose name is that of
// the latter and more: what was in widgets may be in widgetsStrategy, where others are already.
func heir(at []string, name string, a, b *schema) string {
	mine := tokens(name)
	for _, other := range slices.Sorted(maps.Keys(b.Properties)) {
		_, shared := a.Properties[other]
		if its := tokens(other); shared && other != name && len(mine) > 1 && len(its) > len(mine) && slices.Equal(its[:len(mine)], mine) {
			return path(below(at, other))
		}
	}
	return ""
}

// aside moves a field out of the way of another one that has its name, and is something
// else; it returns the place where it is from then on.
func (w *work) aside(steps []string) []string {
	name := steps[len(steps)-1]
	to := beside(steps, name+"Of"+strings.ToUpper(w.from[:1])+w.from[1:])
	w.move(steps, to, Op{At: path(steps), Why: fmt.Sprintf("%s has something of another type by that name, so it makes room first", w.to)})
	made := &w.ops[len(w.ops)-1]
	made.moved, made.room = nil, steps
	return to
}

// pair joins a field that was moved aside just now with that for which it was, if there is one.
func pair(w *work, u, namesake *unit) {
	if namesake != nil {
		u.namesake, namesake.namesake = namesake, u
		w.ops[len(w.ops)-1].of = u
	}
}

func reserved(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

// gather puts a field, and what is in it, into a pool; it returns nil where that is full.
func (w *work) gather(into *pool, steps []string, s *schema, needed bool, level int, whole bool) *unit {
	if w.walked++; level > maxLevels || len(*into) >= maxPool || w.walked > maxFields {
		w.cut = true
		return nil
	}
	u := newUnit(steps, s)
	u.needed, u.whole = needed && s.Default == nil, whole
	*into = append(*into, u)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		one := s.Properties[name]
		if in := w.gather(into, below(steps, name), &one, slices.Contains(s.Required, name), level+1, false); in != nil {
			in.lone = len(s.Properties) == 1
		}
	}
	return u
}

// kind is the type of a schema, or what stands for it.
func kind(s *schema) string {
	switch {
	case s.XIntOrString:
		return "int-or-string"
	case s.Type == "" && len(s.Properties) > 0:
		return "object"
	}
	return s.Type
}

func items(s *schema) *schema {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// isMap tells whether an object has keys that no schema names.
func isMap(s *schema) bool {
	return kind(s) == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil
}

// alike tells whether there is an operation that makes the one of the other in place.
func alike(a, b *schema) bool {
	x, y := kind(a), kind(b)
	switch {
	case x == "" || y == "":
		return true
	case x == y:
		return x != "object" || isMap(a) == isMap(b) || preserves(a) && len(a.Properties) == 0 || preserves(b) && len(b.Properties) == 0
	case x == "array":
		return wraps(a, b) || keyOf(a, b) != ""
	case y == "array":
		return wraps(b, a) || keyOf(b, a) != ""
	}
	return x != "object" && y != "object"
}

// wraps tells whether a list has items of the other kind.
func wraps(list, one *schema) bool {
	of := items(list)
	return of != nil && kind(of) == kind(one) && kind(one) != "array" && !isMap(one)
}

// keyOf is the field of a list's items that would be the key in a map, "" for none.
func keyOf(list, m *schema) string {
	of := items(list)
	if of == nil || !isMap(m) || kind(of) != "object" {
		return ""
	}
	for _, name := range append(slices.Clone(list.XListMapKeys), "name", "key", "id") {
		if p, ok := of.Properties[name]; ok && p.Type == "string" {
			return name
		}
	}
	return ""
}

// retype makes a value of another type at its place.
func (w *work) retype(at []string, a, b *schema) {
	field, x, y := path(at), kind(a), kind(b)
	op := Op{At: field, Why: fmt.Sprintf("it is %s in %s, and %s in %s", article(x), w.from, article(y), w.to)}
	switch {
	case x == "" && y != "":
		op.Why = fmt.Sprintf("it is anything in %s, and %s in %s: values that are no such are not valid there", w.from, article(y), w.to)
		if y == "object" && !isMap(b) && !preserves(b) {
			op.Why += ", and what no schema names is dropped"
		}
	case y == "" || x == "integer" && (y == "number" || y == "int-or-string") || x == "string" && y == "int-or-string":
		return // each value of the one is one of the other; the way back is told by the proof
	case y == "array" && keyOf(b, a) != "":
		op.MapToList = &rules.MapToList{List: field, Map: field, Key: keyOf(b, a), Value: valueOf(items(b), keyOf(b, a), a)}
		op.Why += "; the key was guessed"
	case x == "array" && keyOf(a, b) != "":
		op.ListToMap = &rules.ListToMap{List: field, Map: field, Key: keyOf(a, b), Value: valueOf(items(a), keyOf(a, b), b), Order: orderIn(at)}
		op.Why += "; the key was guessed"
	case y == "array":
		op.ToList = &rules.Field{Field: field}
		op.Why += ", of which several do not come back"
	case x == "array":
		op.FromList = &rules.Field{Field: field}
		op.Why += ", so that lists of several are refused"
	case y == "string" && x == "integer" && b.Format == "duration":
		op.Unit = &rules.Unit{Field: field, Kind: "Duration", Unit: "s"}
		op.Why += " with a unit"
		op.Alternatives = []string{"another unit: ms, m, h"}
	case x == "string" && y == "integer" && a.Format == "duration":
		op.Why += ": there is no rule for a unit that goes away; write the conversion from " + w.to + " to " + w.from
	case x == "int-or-string" || y == "int-or-string" || x == "number" && y == "integer":
		op.Why += ": values that are no such are not valid there"
	case typed(x) && typed(y) && !(x == "boolean" && y != "string" || y == "boolean" && x != "string"):
		op.Type = &rules.Type{Field: field, From: x, To: y}
		if y != "string" {
			op.Why += ": texts that are no such are refused"
		} else {
			op.Why += ": other texts do not come back"
		}
	default:
		op.Why += ": no rule makes the one of the other"
	}
	if op.FromList != nil {
		w.add(op, at) // the item is there from then on
	} else {
		w.add(op, nil)
	}
	if op.ToList != nil || op.FromList != nil {
		w.inside(at, a, b)
	}
}

// inside goes on with the item of a list that was made, or was left.
func (w *work) inside(at []string, a, b *schema) {
	if kind(b) == "array" {
		w.walk(below(at, item), a, items(b), len(at))
		return
	}
	w.walk(at, items(a), b, len(at))
}

func typed(kind string) bool {
	return kind == "string" || kind == "integer" || kind == "number" || kind == "boolean"
}

// valueOf is the only other field of items whose map has scalars.
func valueOf(of *schema, key string, m *schema) string {
	if kind(m.AdditionalProperties.Schema) == "object" || len(of.Properties) != 2 {
		return ""
	}
	for name := range of.Properties {
		if name != key {
			return name
		}
	}
	return ""
}

func article(kind string) string {
	switch kind {
	case "integer", "object", "array", "int-or-string":
		return "an " + kind
	}
	return "a " + kind
}
