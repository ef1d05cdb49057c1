package patch

import (
	"math/bits"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/wasmgate/wasmgate/crd/object"
)

const (
	// maxMerging is what merging lists may take, in a unit that is a few nanoseconds or
	// less: the library compares each item with each other one, often.
	maxMerging = 1 << 32
	// perScalar and perObject are for two items that are compared, and perByte is of how
	// many bytes of their keys one is for.
	perScalar, perObject, perByte = 4, 32, 16
	// fewItems are so few, in all lists together, that nothing takes long.
	fewItems = 100

	orderPrefix, deletePrefix, directive = "$setElementOrder/", "$deleteFromPrimitiveList/", "$patch"
)

// checkMerging refuses a strategic merge patch whose lists take the library too long to
// merge, which nothing ends before. It changes neither.
func checkMerging(old, patch map[string]any, typed runtime.Object) error {
	if itemsIn(old)+itemsIn(patch) <= fewItems {
		return nil
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return nil // as the library says
	}
	m := merging{left: maxMerging}
	m.object(object.Clone(old), object.Clone(patch), schema)
	if m.left >= 0 {
		return nil
	}
	return apierrors.NewRequestEntityTooLargeError("The strategic merge patch is refused: its lists, with those that they are merged into, are too long to merge: send it in parts, or as another kind of patch")
}

// itemsIn are the items of all lists in a value.
func itemsIn(v any) (n int) {
	switch x := v.(type) {
	case map[string]any:
		for _, child := range x {
			n += itemsIn(child)
		}
	case []any:
		n = len(x)
		for _, item := range x {
			n += itemsIn(item)
		}
	}
	return n
}

// merging merges as the library does, but for the order of lists, and charges what that
// takes there.
type merging struct{ left int }

// object is what old becomes with an object of the patch, either of which it may change.
func (m *merging) object(old, patch map[string]any, schema strategicpatch.LookupPatchMeta) map[string]any {
	if how, ok := patch[directive]; ok {
		delete(patch, directive)
		if how == "replace" {
			return patch
		}
		return map[string]any{}
	}
	for key, v := range patch {
		if m.left < 0 {
			break
		}
		name, ordered := strings.CutPrefix(key, orderPrefix)
		name, deletes := strings.CutPrefix(name, deletePrefix)
		_, again := patch[name]
		switch x := v.(type) {
		case map[string]any:
			if deletes && again {
				m.left = -1 // either may be the first, of which one may take the other's place
				break
			}
			m.field(old, name, x, deletes, schema)
		case []any:
			if deletes && again && len(x) > 0 && asObject(x[0]) != nil {
				m.left = -1 // as above
				break
			}
			if _, later := patch[orderPrefix+key]; !later { // with its order
				m.items(old, patch, name, x, ordered, deletes, schema)
			}
		default:
			switch {
			case !deletes:
				old[key] = v
			case v == nil && !again: // whatever the directive is for
				delete(old, name)
			}
		}
	}
	return old
}

// field merges a field that is an object, for which the library takes no notice of a
// directive to delete from lists but where there is nothing to merge it with.
func (m *merging) field(old map[string]any, name string, v map[string]any, deletes bool, schema strategicpatch.LookupPatchMeta) {
	was, ok := old[name].(map[string]any)
	sub, meta, err := schema.LookupPatchMetadataForStruct(name)
	switch {
	case !ok && deletes:
	case !ok || err != nil || slices.Contains(meta.GetPatchStrategies(), "replace"):
		old[name] = v
	default:
		old[name] = m.object(was, v, sub)
	}
}

// items merges a field that is a list, or brings it into the order that it is.
func (m *merging) items(old, patch map[string]any, name string, v []any, ordered, deletes bool, schema strategicpatch.LookupPatchMeta) {
	was, listed := old[name].([]any)
	sub, meta, err := schema.LookupPatchMetadataForSlice(name)
	switch {
	case err != nil, deletes && (!listed || len(v) > 0 && asObject(v[0]) == nil): // which is done at once
	case !listed && !ordered:
		old[name] = v
	case !slices.Contains(meta.GetPatchStrategies(), "merge") && !ordered && !deletes:
		old[name] = v
	case ordered:
		items, _ := patch[name].([]any)
		old[name] = m.list(was, items, v, meta.GetPatchMergeKey(), sub)
	default:
		old[name] = m.list(was, v, nil, meta.GetPatchMergeKey(), sub)
	}
}

// list merges a list of the patch into old, whose items have a key or, where that is
// empty, are their own; order is nil where the patch has none.
func (m *merging) list(old, patch, order []any, key string, schema strategicpatch.LookupPatchMeta) []any {
	l := lists{old: len(old), patch: len(patch), scalar: key == ""}
	merged, at := slices.Clip(old), make(map[any]int, len(old))
	for i, item := range old {
		if k, keyed := l.counted(item, key); keyed {
			if _, ok := at[k]; ok {
				l.repeats = true
				continue
			}
			at[k] = i
		}
	}
	var objects [][2]map[string]any
	for _, item := range patch {
		k, keyed := l.counted(item, key)
		fields := asObject(item)
		if _, ok := fields[directive]; ok {
			l.deletions++
			continue
		}
		i, found := at[k]
		switch {
		case !keyed || !found:
			if keyed {
				at[k] = len(merged)
			}
			merged = append(merged, item)
		default:
			l.both++
			if was := asObject(merged[i]); was != nil && fields != nil {
				objects = append(objects, [2]map[string]any{was, fields})
			}
		}
	}
	l.merged = len(merged)
	m.spend(l.merge())
	m.spend(l.arrange(merged, patch, key))
	if order != nil {
		m.spend(l.arrange(merged, order, key))
	}
	for _, o := range objects {
		if m.left < 0 {
			break
		}
		m.object(o[0], o[1], schema)
	}
	return merged
}

func (m *merging) spend(work int) { m.left -= min(work, m.left+1) }

// lists are the sizes of what is merged.
type lists struct {
	old, patch, merged int
	both, deletions    int // items of the patch that old has, and that delete
	scalar, repeats    bool
	bytes              int // of all keys
}

// counted is the key of an item, whose bytes are counted.
func (l *lists) counted(item any, key string) (k any, keyed bool) {
	k, keyed = keyOf(item, key)
	if text, ok := k.(string); ok {
		l.bytes += len(text)
	}
	return k, keyed
}

// keyOf is what an item is compared by, which may be null, if it is by anything.
func keyOf(item any, key string) (k any, keyed bool) {
	k, keyed = item, true
	if key != "" {
		k, keyed = asObject(item)[key]
	}
	switch k.(type) {
	case map[string]any, []any:
		return nil, false
	}
	return k, keyed
}

func asObject(item any) map[string]any {
	fields, _ := item.(map[string]any)
	return fields
}

// merge is what it takes to find the items of each in the other.
func (l *lists) merge() int {
	if l.scalar {
		return l.work((l.old + l.patch) * (l.old + l.patch) / 2)
	}
	steps := l.patch * l.merged
	if l.deletions > 0 {
		steps += (l.patch + l.old) * l.old
	}
	return l.work(steps)
}

// arrange is what it takes to bring what is merged into the order of a list of the patch,
// and what that does not have into the old order. Each time that two items are compared
// both are looked for in that list.
func (l *lists) arrange(merged, by []any, key string) int {
	places := make(map[any]int, len(by))
	for i, item := range by {
		if k, keyed := keyOf(item, key); keyed {
			if _, ok := places[k]; !ok {
				places[k] = i
			}
		}
	}
	named, last, sorted := 0, 0, !l.scalar || l.both == 0
	for _, item := range merged {
		k, keyed := keyOf(item, key)
		if place, ok := places[k]; ok && keyed {
			named, last, sorted = named+1, place, sorted && place >= last
		}
	}
	others := l.merged - named
	return l.work(l.merged*(len(by)+l.old) + comparisons(named, sorted)*len(by) + comparisons(others, !l.repeats)*l.old)
}

// comparisons are how often items are compared to sort so many.
func comparisons(items int, sorted bool) int {
	if sorted {
		return 2 * items
	}
	return items * bits.Len(uint(items))
}

// work is what so many comparisons take.
func (l *lists) work(comparisons int) int {
	each := perObject
	if l.scalar {
		each = perScalar
	}
	if n := l.old + l.patch; n > 0 {
		each += l.bytes / n / perByte
	}
	return comparisons * each
}
