package builtin

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/declared"
)

// declare gives the kinds that have rules which were generated from their Go types
// those, as far as they count.
func declare(all []*crd.Definition, modes declared.Modes) {
	if !modes.On {
		return
	}
	for _, d := range all {
		for _, v := range d.Versions {
			if s, ok := v.Strategy.(*strategy); ok {
				s.kind.modes, s.kind.rules = modes, declared.Of(s.kind.gvk)
			}
		}
	}
}

// declared has the generated rules of a kind that has some judge an object, too.
// present is what is wrong with it by the others.
func (s *strategy) declared(ctx context.Context, tree, was map[string]any, present field.ErrorList) field.ErrorList {
	k := s.kind
	if k.rules == nil {
		return present
	}
	obj, old, of := k.fresh(), runtime.Object(nil), strings.ToLower(k.gvk.Kind)
	if s.subresource != "" {
		of += "_" + s.subresource
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, obj)
	if was == nil {
		of += "_create"
	} else if of += "_update"; err == nil {
		typed := k.fresh()
		err, old = runtime.DefaultUnstructuredConverter.FromUnstructured(was, typed), typed
	}
	if err != nil { // the others have judged what is no object of the type
		k.modes.Differ(of, err.Error())
		return present
	}
	return k.rules.Judge(ctx, k.modes, of, s.subresource, obj, old, present)
}
