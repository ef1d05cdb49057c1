package extend

import (
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/cel"
	"github.com/wasmgate/wasmgate/crd/object"
)

// validateDeviceClass checks by what a class selects devices.
func validateDeviceClass(_ string, obj, _ map[string]any) field.ErrorList {
	class := new(resourcev1.DeviceClass)
	if object.ToTyped(obj, class) != nil {
		return nil // the schema says why
	}
	return validateDeviceSelectors(class.Spec.Selectors, field.NewPath("spec", "selectors"))
}

// validateClaim checks by what a claim selects devices, and its status.
func validateClaim(subresource string, obj, old map[string]any) field.ErrorList {
	claim, before := new(resourcev1.ResourceClaim), new(resourcev1.ResourceClaim)
	if object.ToTyped(obj, claim) != nil {
		return nil // the schema says why
	}
	if subresource == "status" && object.ToTyped(old, before) == nil {
		return validateClaimStatus(claim, before)
	}
	if subresource != "" || old != nil {
		return nil // it does not change
	}
	return validateRequests(claim.Spec, field.NewPath("spec"))
}

// validateClaimTemplate does so for the claims that are made of a template.
func validateClaimTemplate(_ string, obj, old map[string]any) field.ErrorList {
	template := new(resourcev1.ResourceClaimTemplate)
	if old != nil || object.ToTyped(obj, template) != nil {
		return nil
	}
	return validateRequests(template.Spec.Spec, field.NewPath("spec", "spec"))
}

func validateRequests(claim resourcev1.ResourceClaimSpec, spec *field.Path) (errs field.ErrorList) {
	for i, r := range claim.Devices.Requests {
		path := spec.Child("devices", "requests").Index(i)
		if r.Exactly != nil {
			errs = append(errs, validateDeviceSelectors(r.Exactly.Selectors, path.Child("exactly", "selectors"))...)
		}
		for j, sub := range r.FirstAvailable {
			errs = append(errs, validateDeviceSelectors(sub.Selectors, path.Child("firstAvailable").Index(j).Child("selectors"))...)
		}
	}
	return errs
}

func validateDeviceSelectors(selectors []resourcev1.DeviceSelector, path *field.Path) (errs field.ErrorList) {
	if len(selectors) > resourcev1.DeviceSelectorsMaxSize {
		return field.ErrorList{field.TooMany(path, len(selectors), resourcev1.DeviceSelectorsMaxSize)}
	}
	for i, s := range selectors {
		at := path.Index(i).Child("cel")
		if s.CEL == nil {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		at = at.Child("expression")
		if len(s.CEL.Expression) > resourcev1.CELSelectorExpressionMaxLength {
			errs = append(errs, field.TooLong(at, "", resourcev1.CELSelectorExpressionMaxLength))
		} else if err := cel.Device(at, s.CEL.Expression); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// dateTaints has taints of devices begin now that do not say since when they are there.
func dateTaints(slice map[string]any) {
	for _, d := range object.Objects(object.Child(slice, "spec")["devices"]) {
		for _, t := range object.Objects(d["taints"]) {
			if t["timeAdded"] == nil {
				t["timeAdded"] = time.Now().UTC().Format(time.RFC3339)
			}
		}
	}
}
