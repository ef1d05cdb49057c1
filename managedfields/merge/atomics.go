package merge

import (
	"maps"
	"slices"
	"strconv"
)

// Atomics are the paths, as structured-merge-diff writes them, of the lists and
// objects in v that a merge would replace as one value.
func (t *Type) Atomics(v any) []string {
	a := atomics{left: maxPaths}
	a.find(t, "", v)
	return a.found
}

type atomics struct {
	found []string
	left  int // bytes of paths that may yet be made
}

func (a *atomics) add(path string) {
	if a.left -= len(path); a.left >= 0 {
		a.found = append(a.found, path)
	}
}

func (a *atomics) find(t *Type, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if t == nil || t.object == nil {
			return
		}
		if t.object.atomic {
			a.add(path)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if f := t.object.fields[name]; f != nil {
				a.find(f.Type, path+"."+name, v[name])
			}
		}
	case []any:
		if t == nil || t.list == nil {
			return
		}
		if t.list.atomic {
			a.add(path)
		}
		for i, item := range v {
			a.find(t.list.element, path+"["+strconv.Itoa(i)+"]", item)
		}
	}
}
