package trust

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Written is the strategy of a ModuleTrust with a check of what no schema can say, so
// that a policy that cannot be read is refused when it is written.
type Written struct{ crd.Strategy }

// Validate implements [crd.Strategy].
func (w Written) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	v := w.Strategy.Validate(ctx, obj, old)
	if len(v.Errors) > 0 {
		return v
	}
	var o object
	if err := gvr.Decode(obj, &o); err != nil {
		v.Errors = append(v.Errors, field.Invalid(field.NewPath("spec"), field.OmitValueType{}, err.Error()))
		return v
	}
	_, v.Errors = read(o.Name, o.Spec)
	return v
}
