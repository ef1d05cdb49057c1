package dyn

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// selecting are functions about label selectors.
type selecting struct{}

// CompileOptions implements [cel.Library].
func (selecting) CompileOptions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function("selects", cel.Overload("selects_dyn_dyn", []*cel.Type{cel.DynType, cel.DynType}, cel.BoolType,
			cel.BinaryBinding(selects))),
	}
}

// ProgramOptions implements [cel.Library].
func (selecting) ProgramOptions() []cel.ProgramOption { return nil }

// selects tells whether a selector with matchLabels and matchExpressions selects
// labels. None selects nothing; one that is no selector counts as if it did: what is
// wrong with it is for others to say.
func selects(selector, set ref.Val) ref.Val {
	var s *metav1.LabelSelector
	tree, err := native(selector)
	if err != nil {
		return types.WrapErr(err)
	}
	if m, ok := tree.(map[string]any); ok {
		s = &metav1.LabelSelector{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m, s); err != nil {
			return types.True
		}
	}
	matches, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return types.True
	}
	tree, err = native(set)
	if err != nil {
		return types.WrapErr(err)
	}
	m, _ := tree.(map[string]any)
	have := labels.Set{}
	for k, v := range m {
		have[k], _ = v.(string)
	}
	return types.Bool(matches.Matches(have))
}
