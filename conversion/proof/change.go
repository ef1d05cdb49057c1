package proof

import (
	"math/rand/v2"

	"github.com/wasmgate/wasmgate/crd/object"
)

// changed makes an object of one that took a new branch: it gets what another one has
// beside, or a few changes.
func (g *guide) changed(random *rand.Rand, o *objects) map[string]any {
	from := g.seed(random)
	obj := from.object
	if random.IntN(3) == 0 {
		both := joined(object.CloneValue(obj), object.CloneValue(g.seed(random).object))
		return o.completed(both.(map[string]any))
	}
	for range 1 + random.IntN(2) {
		switch random.IntN(4) {
		case 0:
			if places := fieldsOf(obj); len(places) > 0 {
				obj, _ = edited(obj, places[random.IntN(len(places))], nil, true)
			}
		case 1:
			other := g.seed(random).object
			if random.IntN(3) == 0 {
				other = o.any(random)
			}
			if places := fieldsOf(other); len(places) > 0 {
				obj = planted(obj, other, places[random.IntN(len(places))])
			}
		default:
			values := from.near
			if len(values) == 0 || random.IntN(4) == 0 {
				values = g.values
			}
			if len(values) > 0 {
				obj, _ = filled(obj, o.paths.root, values[random.IntN(len(values))], random).(map[string]any)
			}
		}
	}
	return o.completed(object.Clone(obj))
}

// seed is one of the objects, more often a late one.
func (g *guide) seed(random *rand.Rand) seed {
	n := len(g.seeds)
	if random.IntN(4) > 0 {
		n = min(n, late)
	}
	return g.seeds[len(g.seeds)-1-random.IntN(n)]
}

// joined is a value with what another one has beside: fields that it lacks, and items.
func joined(v, other any) any {
	switch of := v.(type) {
	case map[string]any:
		more, _ := other.(map[string]any)
		for name, value := range more {
			if has, there := of[name]; there {
				value = joined(has, value)
			}
			of[name] = value
		}
	case []any:
		more, _ := other.([]any)
		return append(of, more...)
	}
	return v
}

// filled is an object of a schema with another value in a few of the fields that take it,
// but those of its metadata.
func filled(v any, root *schema, fill any, random *rand.Rand) any {
	few := 2 + random.IntN(3)
	var walk func(v any, s *schema) any
	walk = func(v any, s *schema) any {
		switch of := v.(type) {
		case map[string]any:
			for _, name := range names(of, nil) {
				if s == root && name == "metadata" {
					continue
				}
				at, _ := under(s, name)
				of[name] = walk(of[name], at)
			}
		case []any:
			for i := range of {
				of[i] = walk(of[i], items(s))
			}
		default:
			if s != nil && random.IntN(few) == 0 && takes(merged(s, -1), fill) {
				return fill
			}
		}
		return v
	}
	return walk(object.CloneValue(v), root)
}

// fieldsOf are the places in an object but those in its metadata.
func fieldsOf(obj map[string]any) (all [][]any) {
	for _, place := range placesOf(obj) {
		if place[0] != "metadata" {
			all = append(all, place)
		}
	}
	return all
}

// planted is a copy of an object with what another one has at a place, or above that
// where the object lacks it.
func planted(obj, other map[string]any, place []any) map[string]any {
	for n := 1; ; n++ {
		value := object.CloneValue(at(other, place[:n]))
		if n == len(place) || at(obj, place[:n]) == nil {
			return set(object.Clone(obj), place[:n], value)
		}
	}
}

// set gives a place another value; an item that a list lacks comes after the others.
func set(obj map[string]any, place []any, value any) map[string]any {
	last := len(place) - 1
	switch of := at(obj, place[:last]).(type) {
	case map[string]any:
		name, _ := place[last].(string)
		of[name] = value
	case []any:
		if i, _ := place[last].(int); i < len(of) {
			of[i] = value
		} else {
			obj, _ = edited(obj, place[:last], append(of, value), false)
		}
	}
	return obj
}
