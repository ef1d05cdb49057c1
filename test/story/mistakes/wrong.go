package mistakes

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/crd/schema"
)

// wrong are the objects that are made of a valid one, which is of Go type t: with
// one place changed, each, and with each of the merge patches.
func wrong(valid map[string]any, t reflect.Type, also []map[string]any) []map[string]any {
	var out []map[string]any
	for _, v := range changed(valid, t, true) {
		out = append(out, v.(map[string]any))
	}
	for _, patch := range also {
		out = append(out, merged(valid, patch).(map[string]any))
	}
	return out
}

// gone stands for a value that is taken away.
type gone struct{}

// changed are all values that a change of one place makes of v. Of the top, what
// every object has stays as it is.
func changed(v any, t reflect.Type, top bool) []any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		if t.Kind() == reflect.Struct && !schema.Leaf(t) {
			return changedFields(v, t, top)
		}
		return changedEntries(v, t)
	case []any:
		return changedItems(v, t)
	}
	return nil
}

// barePod is how many fields the spec of a pod has of which what it lacks is not
// tried: that of a template, as pods have stories of their own. Nor is it tried of
// each volume, and of each metric, what else that could be.
const barePod = 2

func changedFields(v map[string]any, t reflect.Type, top bool) []any {
	var out []any
	bare := len(v) <= barePod && t.Name() == "PodSpec" || t.Name() == "Volume" && v["emptyDir"] == nil || t.Name() == "MetricSpec" && v["resource"] == nil
	for _, f := range schema.Fields(t) {
		if top && slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, f.Name) || f.Name == "managedFields" {
			continue
		}
		have, ok := v[f.Name]
		if !ok && bare {
			continue
		}
		if !ok {
			for _, x := range samples(f.Type, 0) {
				out = append(out, with(v, f.Name, x))
			}
			continue
		}
		for _, x := range slices.Concat(others(have, f.Type), changed(have, f.Type, false)) {
			out = append(out, with(v, f.Name, x))
		}
	}
	return out
}

func changedEntries(v map[string]any, t reflect.Type) []any {
	if t.Kind() != reflect.Map || len(v) == 0 {
		return nil
	}
	var out []any
	names := slices.Sorted(maps.Keys(v))
	for _, odd := range []string{"Odd one!", strings.Repeat("a", 64), ""} {
		out = append(out, with(v, odd, v[names[0]]))
	}
	for _, name := range names {
		for _, x := range slices.Concat(others(v[name], t.Elem()), changed(v[name], t.Elem(), false)) {
			out = append(out, with(v, name, x))
		}
	}
	return out
}

func changedItems(v []any, t reflect.Type) []any {
	if t.Kind() != reflect.Slice || len(v) == 0 {
		return nil
	}
	out := []any{append(slices.Clone(v), v[0])}
	for i := range v {
		for _, x := range slices.Concat(others(v[i], t.Elem()), changed(v[i], t.Elem(), false)) {
			if _, removed := x.(gone); !removed {
				out = append(out, slices.Replace(slices.Clone(v), i, i+1, x))
			}
		}
	}
	return out
}

// with is v with another value at a name, or without one.
func with(v map[string]any, name string, x any) map[string]any {
	v = maps.Clone(v)
	if _, removed := x.(gone); removed {
		delete(v, name)
	} else {
		v[name] = x
	}
	return v
}

// others are what is tried in place of a value.
func others(v any, t reflect.Type) []any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	out := []any{gone{}}
	switch v := v.(type) {
	case string:
		switch {
		case t.Name() == "Quantity":
			out = append(out, "-1", "0", "500m", "1u")
		case t.Name() == "IntOrString":
			out = append(out, -1, 0, 70000, "", "Odd one!", "150%", "-1%")
		case t.Kind() == reflect.String:
			out = append(out, "", "Odd one!", strings.Repeat("a", 64), v+"/..", strings.ToUpper(v))
		}
	case float64:
		out = append(out, -1, 0, 70000)
		if t.Name() == "IntOrString" {
			out = append(out, "", "Odd one!", "150%", "-1%")
		}
	case bool:
		out = append(out, !v)
	case []any:
		out = append(out, []any{})
	case map[string]any:
		out = append(out, map[string]any{})
	}
	return out
}

// deepest bounds what is set of a field that was not there.
const deepest = 2

// samples are what is tried in a field of Go type t that was not there.
func samples(t reflect.Type, depth int) []any {
	pointer := t.Kind() == reflect.Pointer
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Name() == "Quantity":
		return []any{"-1", "1"}
	case t.Name() == "IntOrString":
		return []any{-1, "Odd one!"}
	case schema.Leaf(t):
		return nil
	}
	switch t.Kind() {
	case reflect.String:
		return []any{"Odd one!", "odd"}
	case reflect.Bool:
		return []any{true}
	case reflect.Int32, reflect.Int64:
		if pointer {
			return []any{-1, 0, 1}
		}
		return []any{-1, 1}
	case reflect.Struct:
		return sampleStructs(t, depth)
	case reflect.Slice:
		var out []any
		if t.Elem().Kind() == reflect.Uint8 {
			return []any{"eA=="}
		}
		for _, x := range samples(t.Elem(), depth+1) {
			out = append(out, []any{x})
		}
		return out
	case reflect.Map:
		var out []any
		for _, x := range samples(t.Elem(), depth+1) {
			out = append(out, map[string]any{"odd": x})
		}
		return out
	}
	return nil
}

func sampleStructs(t reflect.Type, depth int) []any {
	out := []any{map[string]any{}}
	if depth >= deepest {
		return out
	}
	for _, f := range schema.Fields(t) {
		for _, x := range samples(f.Type, depth+1) {
			out = append(out, map[string]any{f.Name: x})
		}
	}
	return out
}

// merged applies a merge patch.
func merged(v, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	m, _ := v.(map[string]any)
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	for name, x := range p {
		if x == nil {
			delete(out, name)
		} else {
			out[name] = merged(out[name], x)
		}
	}
	return out
}

// fieldOf is the Go type of a field of Go type t.
func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	for _, f := range schema.Fields(t) {
		if f.Name == name {
			return f.Type, true
		}
	}
	return nil, false
}
