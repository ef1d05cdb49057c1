package merge

import (
	"iter"
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// few is how many members may come in any order. Sets of fields are sorted
// slices: what is inserted in front moves all behind it, so that many members
// must come in order.
const few = 256

// inOrder are the fields of an object, in the order of sets if they are many.
func inOrder(fields map[string]any) iter.Seq2[string, any] {
	if len(fields) <= few {
		return maps.All(fields)
	}
	return func(yield func(string, any) bool) {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if !yield(name, fields[name]) {
				return
			}
		}
	}
}

// inOrder are the indexes of valid items with their path elements, in the order
// of sets if they are many.
func (l *listType) inOrder(items []any) iter.Seq2[int, fieldpath.PathElement] {
	if len(items) <= few {
		return func(yield func(int, fieldpath.PathElement) bool) {
			for i, item := range items {
				if !yield(i, l.path(item)) {
					return
				}
			}
		}
	}
	type place struct {
		i       int
		element fieldpath.PathElement
	}
	places := make([]place, len(items))
	for i, item := range items {
		places[i] = place{i, l.path(item)}
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.element.Compare(b.element) })
	return func(yield func(int, fieldpath.PathElement) bool) {
		for _, p := range places {
			if !yield(p.i, p.element) {
				return
			}
		}
	}
}
