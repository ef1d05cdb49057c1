package extend

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// validateServiceCIDR lets ranges be as they are, but that one of the other family
// may be added to a single one.
func validateServiceCIDR(subresource string, obj, old map[string]any) (errs field.ErrorList) {
	if subresource != "" || old == nil {
		return nil
	}
	const fixed = "field is immutable"
	path := field.NewPath("spec", "cidrs")
	now, _ := object.Child(obj, "spec")["cidrs"].([]any)
	was, _ := object.Child(old, "spec")["cidrs"].([]any)
	if len(now) != len(was) && (len(was) != 1 || len(now) != 2) {
		if len(now) == 0 {
			return field.ErrorList{field.Invalid(path, nil, fixed)}
		}
		return field.ErrorList{field.Invalid(path, now, fixed)}
	}
	for i := range was {
		if now[i] != was[i] {
			errs = append(errs, field.Invalid(path.Index(i), now[i], fixed))
		}
	}
	return errs
}
