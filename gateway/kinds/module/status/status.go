// Package status owns what clients may write into the status of a
// WasmModule: conditions of their own. The rest says what the gateway found out,
// where a module comes from and what was let serve, and is believed after a
// restart.
//
// It must not know what any of that means.
package status

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Guard is a validating stage of writes.
type Guard struct{}

var _ admission.Validator = Guard{}

// Name implements [admission.Plugin].
func (Guard) Name() string { return order.ModuleStatus }

// Validate implements [admission.Validator].
func (Guard) Validate(ctx context.Context, a admission.Attributes) error {
	if a.IsOwn() || a.GetSubresource() != "status" || a.GetResource().GroupResource() != gvr.Modules || a.GetObject() == nil {
		return nil
	}
	old, err := a.GetOldObject(ctx)
	if err != nil || old == nil {
		return err
	}
	if errs := forged(gvr.Section(old, "status"), gvr.Section(a.GetObject(), "status")); len(errs) > 0 {
		return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), errs)
	}
	return nil
}

// conditions is the one field that clients may add to.
const conditions = "conditions"

// forged are the fields that a client changes and may not.
func forged(before, after map[string]any) (errs field.ErrorList) {
	fields := maps.Clone(before)
	maps.Copy(fields, after)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		path := field.NewPath("status", name)
		switch {
		case name == conditions && !equality.Semantic.DeepEqual(gateways(before[name]), gateways(after[name])):
			errs = append(errs, field.Forbidden(path, "only the gateway writes it, but for conditions whose type has a prefix, such as example.com/Reviewed"))
		case name != conditions && !equality.Semantic.DeepEqual(before[name], after[name]):
			errs = append(errs, field.Forbidden(path, "only the gateway writes it"))
		}
	}
	return errs
}

// gateways are the conditions that only the gateway writes, by type.
func gateways(list any) map[string]any {
	all, _ := list.([]any)
	own := map[string]any{}
	for _, c := range all {
		condition, _ := c.(map[string]any)
		if name, _, _ := unstructured.NestedString(condition, "type"); !strings.Contains(name, "/") {
			own[name] = condition
		}
	}
	return own
}
