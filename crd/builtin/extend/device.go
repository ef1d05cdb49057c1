package extend

import (
	"reflect"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/cel"
	"github.com/wasmgate/wasmgate/crd/object"
)

// validateDeviceClass checks by what a class selects devices, and how much it says to their
// drivers, unless it said it before.
func validateDeviceClass(_ string, obj, old map[string]any) (errs field.ErrorList) {
	class := new(resourcev1.DeviceClass)
	if object.ToTyped(obj, class) != nil {
		return nil // the schema says why
	}
	errs = validateDeviceSelectors(class.Spec.Selectors, field.NewPath("spec", "selectors"))
	if old != nil && reflect.DeepEqual(object.Child(obj, "spec")["config"], object.Child(old, "spec")["config"]) {
		return errs
	}
	for i, c := range class.Spec.Config {
		errs = append(errs, validateParameters(c.DeviceConfiguration, field.NewPath("spec", "config").Index(i))...)
	}
	return errs
}

// validateParameters bounds what is said to a driver.
func validateParameters(c resourcev1.DeviceConfiguration, path *field.Path) field.ErrorList {
	const most = resourcev1.OpaqueParametersMaxLength
	if c.Opaque == nil || fits(c.Opaque.Parameters, most) {
		return nil
	}
	return field.ErrorList{field.TooLong(path.Child("opaque", "parameters"), "", most)}
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
	for i, c := range claim.Devices.Config {
		errs = append(errs, validateParameters(c.DeviceConfiguration, spec.Child("devices", "config").Index(i))...)
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
