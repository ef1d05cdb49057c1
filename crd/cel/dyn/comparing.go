package dyn

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// comparing are functions about the items of a list.
type comparing struct{}

// CompileOptions implements [cel.Library].
func (comparing) CompileOptions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function("unlike", cel.Overload("unlike_dyn_list", []*cel.Type{cel.DynType, cel.ListType(cel.StringType)}, cel.BoolType,
			cel.BinaryBinding(unlike))),
	}
}

// ProgramOptions implements [cel.Library].
func (comparing) ProgramOptions() []cel.ProgramOption { return nil }

// unlike tells whether no two items of a list have some fields alike, or are alike where
// no fields are named, in a time that is linear in the items.
func unlike(list, fields ref.Val) ref.Val {
	items, err := native(list)
	if err != nil {
		return types.WrapErr(err)
	}
	named, err := native(fields)
	if err != nil {
		return types.WrapErr(err)
	}
	all, ok := items.([]any)
	if !ok {
		return types.NewErr("unlike is about lists")
	}
	names, _ := named.([]any)
	seen := make(map[string]bool, len(all))
	for _, item := range all {
		value := fmt.Sprintf("%#v", item)
		if m, ok := item.(map[string]any); ok && len(names) > 0 {
			value = ""
			for _, name := range names {
				value += fmt.Sprintf("%#v,", m[fmt.Sprint(name)])
			}
		}
		if seen[value] {
			return types.False
		}
		seen[value] = true
	}
	return types.True
}
