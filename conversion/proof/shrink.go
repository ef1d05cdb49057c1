package proof

import (
	"context"
	"slices"

	"github.com/wasmgate/wasmgate/crd/object"
)

// maxShrinks is how many smaller objects are tried, for one finding.
const maxShrinks = 400

// shrunk is the smallest object found that still shows a finding.
type shrunk struct {
	object  map[string]any
	finding *finding
}

// shrink makes an object smaller for as long as it shows the same problem with the
// same field; a failure may become another one that is not known.
func (s *search) shrink(ctx context.Context, obj map[string]any, f *finding) shrunk {
	best, size, left := shrunk{obj, f}, weight(obj), maxShrinks
	smaller := func(candidate map[string]any) bool {
		if left--; left < 0 || ctx.Err() != nil {
			return false
		}
		made, _ := s.from.accepted(candidate)
		if made == nil || weight(made) >= size {
			return false
		}
		times := 1
		if f.problem == Unstable {
			times = 8
		}
		got, err := s.journey.run(ctx, made, times)
		if err != nil || got == nil || got.problem != f.problem || got.back != f.back || f.problem != Fails && got.key() != f.key() {
			return false
		}
		best, size = shrunk{made, got}, weight(made)
		return true
	}
	for again := true; again && left > 0; {
		again = false
		for _, p := range placesOf(best.object) {
			if left <= 0 || ctx.Err() != nil {
				return best
			}
			if gone, ok := edited(best.object, p, nil, true); ok && smaller(gone) {
				again = true
			}
		}
		for _, p := range placesOf(best.object) {
			if left <= 0 || ctx.Err() != nil {
				return best
			}
			for _, plain := range plainer(at(best.object, p)) {
				if changed, ok := edited(best.object, p, plain, false); ok && smaller(changed) {
					again = true
					break
				}
			}
		}
	}
	return best
}

// weight is how much there is to read.
func weight(obj map[string]any) int {
	data, err := object.Encode(obj)
	if err != nil {
		return 0
	}
	return len(data)
}

// placesOf are the places of all that may be missing, the outer ones first, and the
// last items of lists before the others.
func placesOf(obj map[string]any) (all [][]any) {
	var walk func(v any, place []any)
	walk = func(v any, place []any) {
		if len(all) > maxNodes {
			return
		}
		below := func(step, v any) {
			here := append(place[:len(place):len(place)], step)
			if len(here) != 1 || step != "metadata" {
				all = append(all, here)
			}
			walk(v, here)
		}
		switch v := v.(type) {
		case map[string]any:
			for _, name := range names(v, nil) {
				if len(place) == 0 && (name == "apiVersion" || name == "kind") ||
					len(place) == 1 && place[0] == "metadata" && name != "labels" && name != "annotations" {
					continue
				}
				below(name, v[name])
			}
		case []any:
			for i, item := range slices.Backward(v) {
				below(i, item)
			}
		}
	}
	walk(obj, nil)
	return all
}

// at is the value of a place, nil if there is none.
func at(v any, place []any) any {
	for _, step := range place {
		switch of := v.(type) {
		case map[string]any:
			name, _ := step.(string)
			v = of[name]
		case []any:
			i, isItem := step.(int)
			if !isItem || i >= len(of) {
				return nil
			}
			v = of[i]
		default:
			return nil
		}
	}
	return v
}

// edited is a copy in which a place has another value, or is gone.
func edited(obj map[string]any, place []any, value any, remove bool) (map[string]any, bool) {
	out := object.Clone(obj)
	last := len(place) - 1
	switch of := at(out, place[:last]).(type) {
	case map[string]any:
		name, _ := place[last].(string)
		if _, ok := of[name]; !ok {
			return nil, false
		}
		if of[name] = value; remove {
			delete(of, name)
		}
		return out, true
	case []any:
		i, isItem := place[last].(int)
		if !isItem || i >= len(of) {
			return nil, false
		}
		if !remove {
			of[i] = value
			return out, true
		}
		rest := slices.Delete(of, i, i+1)
		if last == 0 {
			return nil, false
		}
		return edited(out, place[:last], rest, false)
	}
	return nil, false
}

// plainer are simpler values to try in the place of one, the simplest first.
func plainer(v any) []any {
	switch v := v.(type) {
	case string:
		if runes := []rune(v); len(runes) > 1 {
			return []any{"a", string(runes[:len(runes)/2]), string(runes[:len(runes)-1])}
		}
	case int64:
		if v > 9 || v < 0 {
			return []any{int64(1), v / 2, v / 10}
		}
	case float64:
		return []any{int64(1), 1.5}
	}
	return nil
}
