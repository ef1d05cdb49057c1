package extend

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateRequestPolicy checks how much may be requested at a time of a capacity that several
// may have a part of.
func validateRequestPolicy(all resource.Quantity, policy *resourcev1.CapacityRequestPolicy, path *field.Path) field.ErrorList {
	switch values, within := policy.ValidValues, policy.ValidRange; {
	case len(values) > 0 && within != nil:
		return field.ErrorList{field.Forbidden(path, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)}
	case len(values) > 0 && policy.Default == nil:
		return field.ErrorList{field.Required(path.Child("default"), "required when validValues is defined")}
	case len(values) > 0:
		return validateValidValues(*policy.Default, all, values, path.Child("validValues"))
	case within != nil && policy.Default == nil:
		return field.ErrorList{field.Required(path.Child("default"), "required when validRange is defined")}
	case within != nil:
		return validateValidRange(*policy.Default, all, within, path.Child("validRange"))
	}
	return nil
}

// mostValidValues is how many amounts a policy lists.
const mostValidValues = 10

// validateValidValues checks the amounts that may be requested, of which the usual is one.
func validateValidValues(usual, all resource.Quantity, values []resource.Quantity, path *field.Path) (errs field.ErrorList) {
	for i := range len(values) - 1 {
		if values[i].Cmp(values[i+1]) > 0 {
			errs = append(errs, field.Invalid(path.Index(i+1), values[i+1].String(), "values must be sorted in ascending order"))
		}
	}
	found := false
	if len(values) > mostValidValues {
		errs = append(errs, field.TooMany(path, len(values), mostValidValues))
	} else {
		for i, v := range values {
			if v.Cmp(all) > 0 {
				errs = append(errs, field.Invalid(path.Index(i), v.String(), "option is larger than capacity value: "+all.String()))
			}
			found = found || v.Cmp(usual) == 0
		}
		errs = append(errs, twice(values, func(q resource.Quantity) string { return fmt.Sprint(q.Value()) }, path)...)
	}
	if !found {
		errs = append(errs, field.Invalid(path, usual.String(), "default value is not valid according to the requestPolicy"))
	}
	return errs
}

// validateValidRange checks between which amounts all may be requested, or those that are
// whole steps from the least.
func validateValidRange(usual, all resource.Quantity, within *resourcev1.CapacityRequestPolicyRange, path *field.Path) (errs field.ErrorList) {
	if within.Min == nil {
		return field.ErrorList{field.Required(path.Child("min"), "required when validRange is defined")}
	}
	above := func(q, most resource.Quantity, child, why string) {
		if q.Cmp(most) > 0 {
			errs = append(errs, field.Invalid(path.Child(child), q.String(), why+most.String()))
		}
	}
	least := *within.Min
	above(least, all, "min", "min is larger than capacity value: ")
	if usual.Cmp(least) < 0 {
		errs = append(errs, field.Invalid(path.Child("min"), usual.String(), "default is less than min: "+least.String()))
	}
	if within.Max != nil {
		above(least, *within.Max, "max", "min is larger than max: ")
		above(*within.Max, all, "max", "max is larger than capacity value: ")
		above(usual, *within.Max, "max", "default is more than max: ")
	}
	if within.Step == nil {
		return errs
	}
	step, at := *within.Step, path.Child("step")
	first := least.DeepCopy()
	if first.Add(step); first.Cmp(all) > 0 {
		errs = append(errs, field.Invalid(at, step.String(), fmt.Sprintf("one step %s is larger than capacity value: %s", first.String(), all.String())))
	}
	if step.Value() == 0 {
		return append(errs, field.Invalid(at, step.String(), "must not be zero")) // at which kube-apiserver ends
	}
	for _, q := range []*resource.Quantity{&usual, within.Max} {
		if q != nil && (q.Value()-least.Value())%step.Value() != 0 {
			errs = append(errs, field.Invalid(at, q.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", step.String(), least.String())))
		}
	}
	return errs
}
