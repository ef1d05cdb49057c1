package extend

import (
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateAllocated checks what devices a claim is given when it has none.
func validateAllocated(devices resourcev1.DeviceAllocationResult, claim resourcev1.DeviceClaim, path *field.Path) (errs field.ErrorList) {
	requests := namesOfRequests(claim)
	if at := path.Child("results"); len(devices.Results) > resourcev1.AllocationResultsMaxSize {
		errs = append(errs, field.TooMany(at, len(devices.Results), resourcev1.AllocationResultsMaxSize))
	} else {
		for i, r := range devices.Results {
			errs = append(errs, validateRequestReference(r.Request, requests, at.Index(i).Child("request"))...)
			errs = append(errs, validateDeviceNames(r.Driver, r.Pool, r.Device, r.ShareID, at.Index(i))...)
			errs = append(errs, validateBindingConditions(r.BindingConditions, r.BindingFailureConditions, at.Index(i))...)
		}
	}
	at := path.Child("config")
	if len(devices.Config) > 2*resourcev1.DeviceConfigMaxSize { // those of the class and of the claim
		return append(errs, field.TooMany(at, len(devices.Config), 2*resourcev1.DeviceConfigMaxSize))
	}
	for i, c := range devices.Config {
		errs = append(errs, validateAllocatedConfig(c, requests, at.Index(i))...)
	}
	return errs
}

func validateAllocatedConfig(c resourcev1.DeviceAllocationConfiguration, requests sets.Set[string], path *field.Path) (errs field.ErrorList) {
	known := []resourcev1.AllocationConfigSource{resourcev1.AllocationConfigSourceClaim, resourcev1.AllocationConfigSourceClass}
	if c.Source == "" {
		errs = append(errs, field.Required(path.Child("source"), ""))
	} else if !slices.Contains(known, c.Source) {
		errs = append(errs, field.NotSupported(path.Child("source"), c.Source, known))
	}
	if at := path.Child("requests"); len(c.Requests) > resourcev1.DeviceRequestsMaxSize {
		errs = append(errs, field.TooMany(at, len(c.Requests), resourcev1.DeviceRequestsMaxSize))
	} else {
		for i, name := range c.Requests {
			errs = append(errs, validateRequestReference(name, requests, at.Index(i))...)
		}
		errs = append(errs, twice(c.Requests, itself, at)...)
	}
	at := path.Child("opaque")
	if c.Opaque == nil {
		return append(errs, field.Required(at, ""))
	}
	if len(c.Opaque.Parameters.Raw) == 0 {
		return errs // the schema says why
	}
	return append(errs, validateDeviceData(c.Opaque.Parameters, resourcev1.OpaqueParametersMaxLength, at.Child("parameters"))...)
}

// namesOfRequests are those that a device can be allocated for: a request, and what a
// request has in its place.
func namesOfRequests(claim resourcev1.DeviceClaim) sets.Set[string] {
	out := sets.New[string]()
	for _, r := range claim.Requests {
		out.Insert(r.Name)
		for _, sub := range r.FirstAvailable {
			out.Insert(r.Name + "/" + sub.Name)
		}
	}
	return out
}

func validateRequestReference(name string, requests sets.Set[string], path *field.Path) (errs field.ErrorList) {
	parts := strings.Split(name, "/")
	for _, part := range parts {
		for _, why := range utilvalidation.IsDNS1123Label(part) {
			if len(parts) <= 2 {
				errs = append(errs, field.Invalid(path, part, why))
			}
		}
	}
	if !requests.Has(name) {
		errs = append(errs, field.Invalid(path, name, "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"))
	}
	return errs
}

// validateBindingConditions checks the conditions that a device has to fulfil before a pod
// is bound, and those that end the wait: none may be among both.
func validateBindingConditions(wanted, failures []string, path *field.Path) (errs field.ErrorList) {
	list := func(items []string, most int, path *field.Path) {
		if len(items) > most {
			errs = append(errs, field.TooMany(path, len(items), most))
			return
		}
		for i, name := range items {
			errs = append(errs, validation.ValidateLabelName(name, path.Index(i))...)
		}
	}
	list(wanted, resourcev1.BindingConditionsMaxSize, path.Child("bindingConditions"))
	list(failures, resourcev1.BindingFailureConditionsMaxSize, path.Child("bindingFailureConditions"))
	errs = append(errs, twice(wanted, itself, path.Child("bindingConditions"))...)
	both, seen := sets.New(wanted...), sets.New[string]()
	for i, name := range failures {
		at := path.Child("bindingFailureConditions").Index(i)
		if seen.Has(name) {
			errs = append(errs, field.Duplicate(at, name))
		}
		seen.Insert(name)
		if both.Has(name) {
			errs = append(errs, field.Invalid(at, name, "bindingFailureConditions must not overlap with bindingConditions"))
		}
	}
	switch {
	case len(wanted) == 0 && len(failures) > 0:
		errs = append(errs, field.Invalid(path.Child("bindingConditions"), wanted, "bindingConditions are required to use bindingFailureConditions"))
	case len(failures) == 0 && len(wanted) > 0:
		errs = append(errs, field.Invalid(path.Child("bindingFailureConditions"), failures, "bindingFailureConditions are required to use bindingConditions"))
	}
	return errs
}
