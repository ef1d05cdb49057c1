package dyn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/lazy"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

// CheckTypeNames is an error unless the objects in an object that an expression has made are
// of the types that their places have: Object.spec at spec. It tells the first only: the
// library's own check makes a text of each, with the whole place in it, which together may
// be larger than all memory. The object has been weighed before ([Weigh]).
func CheckTypeNames(v *dynamic.ObjectVal) error {
	return typeNames(v, []string{v.Type().TypeName()})
}

func typeNames(v ref.Val, place []string) error {
	switch x := v.(type) {
	case *dynamic.ObjectVal:
		if name := x.Type().TypeName(); !isPlace(name, place) {
			return fmt.Errorf("unexpected type name %q, expected %q, which matches field name path from root Object type", name, strings.Join(place, "."))
		}
		fields, err := fieldsOf(x)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if err := typeNames(fields[name], append(place, name)); err != nil {
				return err
			}
		}
	case *lazy.MapValue: // the variables of a policy, which are no part of what is made
	case traits.Mapper:
		for it := x.Iterator(); it.HasNext() == types.True; {
			if err := typeNames(x.Get(it.Next()), place); err != nil {
				return err
			}
		}
	case traits.Lister:
		for it := x.Iterator(); it.HasNext() == types.True; {
			if err := typeNames(it.Next(), place); err != nil {
				return err
			}
		}
	}
	return nil
}

// isPlace tells whether a name is the parts of a place with dots between them, without
// putting these together.
func isPlace(name string, place []string) bool {
	for i, part := range place {
		rest, found := strings.CutPrefix(name, part)
		if !found {
			return false
		}
		if name = rest; i < len(place)-1 {
			if name, found = strings.CutPrefix(rest, "."); !found {
				return false
			}
		}
	}
	return name == ""
}
