package plan

import (
	"fmt"
	"reflect"
	"strings"
)

// items are those of a list, or of several, compared by some of their fields: once for all,
// as one item after the other is asked about.
type items struct {
	all []any
	// first is the first item with some values, by the fields.
	first map[string]map[string]uintptr
}

// alike reports whether an item has some fields like one before it. No fields tell nothing
// apart.
func (i *items) alike(item any, fields []string) bool {
	if fields == nil {
		return true
	}
	if i == nil { // it is in no list
		return false
	}
	by := strings.Join(fields, " ")
	if i.first[by] == nil {
		if i.first == nil {
			i.first = map[string]map[string]uintptr{}
		}
		i.first[by] = map[string]uintptr{}
		for _, one := range i.all {
			if values := valuesOf(one, fields); i.first[by][values] == 0 {
				i.first[by][values] = identity(one)
			}
		}
	}
	before := i.first[by][valuesOf(item, fields)]
	return before != 0 && before != identity(item)
}

// identity tells an item, an object, from others that are equal.
func identity(item any) uintptr {
	m, _ := item.(map[string]any)
	return reflect.ValueOf(m).Pointer()
}

// valuesOf is a text that items have in common whose fields are equal.
func valuesOf(item any, fields []string) string {
	m, _ := item.(map[string]any)
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%#v,", m[f])
	}
	return b.String()
}
