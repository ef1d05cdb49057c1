package main

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// copied is a deep copy of a value.
func copied(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, item := range x {
			out[k] = copied(item)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			out[i] = copied(item)
		}
		return out
	}
	return v
}

// place is where a value stands.
type place struct {
	value any
	set   func(any)
}

// places are those of all values in an object but its kind and metadata.
func places(obj map[string]any) (all []place) {
	var walk func(v any, set func(any))
	walk = func(v any, set func(any)) {
		all = append(all, place{v, set})
		switch x := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(x)) {
				walk(x[k], func(v any) { x[k] = v })
			}
		case []any:
			for i := range x {
				walk(x[i], func(v any) { x[i] = v })
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(obj)) {
		if k != "apiVersion" && k != "kind" && k != "metadata" {
			walk(obj[k], func(v any) { obj[k] = v })
		}
	}
	return all
}

// anywhere is an object in an object, or itself.
func anywhere(obj map[string]any, random *rand.Rand) map[string]any {
	found := []map[string]any{obj}
	for _, p := range places(obj) {
		if m, ok := p.value.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found[random.IntN(len(found))]
}

// wrong are values that stand where others should.
var wrong = []any{nil, true, "", "wrong value", -1, 1.5, []any{}, []any{"a", "a"}, map[string]any{}, map[string]any{"x": nil}, 1e300, "2020-13-45"}

// broken is an object in which one or two values are others.
func broken(obj map[string]any, random *rand.Rand) map[string]any {
	out := copied(obj).(map[string]any)
	for range 1 + random.IntN(2) {
		all := places(out)
		if len(all) == 0 {
			out["spec"] = "wrong value"
			return out
		}
		all[random.IntN(len(all))].set(copied(wrong[random.IntN(len(wrong))]))
	}
	return out
}
