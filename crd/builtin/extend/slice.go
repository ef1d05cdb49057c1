package extend

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/formats"
	"github.com/wasmgate/wasmgate/crd/object"
)

// validateSlice checks what a driver says of its devices: from where they can be used, how
// many there are, and what each of them has.
func validateSlice(_ string, obj, _ map[string]any) (errs field.ErrorList) {
	slice := new(resourcev1.ResourceSlice)
	if object.ToTyped(obj, slice) != nil {
		return nil // the schema says why
	}
	spec, path := slice.Spec, field.NewPath("spec")
	if spec.Pool.Name != "" {
		errs = validatePool(spec.Pool.Name, path.Child("pool", "name"))
	}
	errs = append(errs, validateNodesOfSlice(obj, spec, path)...)
	if len(spec.SharedCounters) > 0 && len(spec.Devices) > 0 {
		errs = append(errs, field.Invalid(path, "", "only one of `sharedCounters` or `devices` is allowed"))
	}
	most, devices := resourcev1.ResourceSliceMaxDevices, path.Child("devices")
	if slices.ContainsFunc(spec.Devices, func(d resourcev1.Device) bool { return len(d.Taints)+len(d.ConsumesCounters) > 0 }) {
		most = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
	}
	if len(spec.Devices) > most {
		errs = append(errs, field.TooMany(devices, len(spec.Devices), most))
	} else {
		for i := range spec.Devices {
			errs = append(errs, validateDevice(&spec.Devices[i], isTrue(spec.PerDeviceNodeSelection), devices.Index(i))...)
		}
		errs = append(errs, twice(spec.Devices, func(d resourcev1.Device) string { return d.Name }, devices)...)
	}
	counters := path.Child("sharedCounters")
	if len(spec.SharedCounters) > resourcev1.ResourceSliceMaxCounterSets {
		return append(errs, field.TooMany(counters, len(spec.SharedCounters), resourcev1.ResourceSliceMaxCounterSets))
	}
	for i, set := range spec.SharedCounters {
		errs = append(errs, validateCounters(set.Counters, resourcev1.ResourceSliceMaxCountersPerCounterSet, counters.Index(i).Child("counters"))...)
	}
	return append(errs, twice(spec.SharedCounters, func(s resourcev1.CounterSet) string { return s.Name }, counters)...)
}

func isTrue(b *bool) bool { return b != nil && *b }

// validateNodesOfSlice checks that it is said in one way from which nodes devices can be used.
func validateNodesOfSlice(obj map[string]any, spec resourcev1.ResourceSliceSpec, path *field.Path) (errs field.ErrorList) {
	const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	if spec.NodeSelector != nil && len(spec.NodeSelector.NodeSelectorTerms) != 1 {
		terms := append([]term{}, termsIn(object.Child(obj, "spec", "nodeSelector"))...)
		errs = append(errs, field.Invalid(path.Child("nodeSelector", "nodeSelectorTerms"), terms, "must have exactly one node selector term"))
	}
	said, wrong := ways(path, "must be either unset or set to a non-empty string", spec.NodeName, spec.NodeSelector, spec.AllNodes, spec.PerDeviceNodeSelection)
	errs = append(errs, wrong...)
	switch len(said) {
	case 0:
		errs = append(errs, field.Required(path, one))
	case 1:
	default:
		errs = append(errs, field.Invalid(path, "{"+strings.Join(said, ", ")+"}", one+", but multiple fields are set"))
	}
	return errs
}

// ways are those in which it is said from which nodes devices can be used.
func ways(path *field.Path, notEmpty string, name *string, selector *corev1.NodeSelector, all, each *bool) (said []string, errs field.ErrorList) {
	switch {
	case name == nil:
	case *name == "":
		errs = append(errs, field.Invalid(path.Child("nodeName"), "", notEmpty))
	default:
		said = append(said, "`nodeName`")
		for _, why := range utilvalidation.IsDNS1123Subdomain(*name) {
			errs = append(errs, field.Invalid(path.Child("nodeName"), *name, why))
		}
	}
	if selector != nil {
		said = append(said, "`nodeSelector`")
	}
	for _, flag := range []struct {
		name string
		set  *bool
	}{{"allNodes", all}, {"perDeviceNodeSelection", each}} {
		switch {
		case flag.set == nil:
		case *flag.set:
			said = append(said, "`"+flag.name+"`")
		default:
			errs = append(errs, field.Invalid(path.Child(flag.name), false, "must be either unset or set to true"))
		}
	}
	return said, errs
}

// validateCounters checks the names of counters, and that they are not too many.
func validateCounters(counters map[string]resourcev1.Counter, most int, path *field.Path) (errs field.ErrorList) {
	if len(counters) > most {
		return field.ErrorList{field.TooMany(path, len(counters), most)}
	}
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		for _, why := range utilvalidation.IsDNS1123Label(name) {
			errs = append(errs, field.Invalid(path, name, why))
		}
	}
	return errs
}

// validateDevice checks one device of a slice. each: it says itself from where it can be used.
func validateDevice(d *resourcev1.Device, each bool, path *field.Path) (errs field.ErrorList) {
	const most = resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice
	if all := len(d.Attributes) + len(d.Capacity); all > most {
		errs = append(errs, field.Invalid(path, all, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", most)))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
		errs = append(errs, formats.Attribute(string(name), path.Child("attributes"))...)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		c, at := d.Capacity[name], path.Child("capacity")
		errs = append(errs, formats.Attribute(string(name), at)...)
		if c.RequestPolicy != nil && isTrue(d.AllowMultipleAllocations) {
			errs = append(errs, validateRequestPolicy(c.Value, c.RequestPolicy, at.Key(string(name)).Child("requestPolicy"))...)
		}
	}
	errs = append(errs, validateConsumption(d.ConsumesCounters, path.Child("consumesCounters"))...)
	errs = append(errs, validateNodesOfDevice(d, each, path)...)
	return append(errs, validateBindingConditions(d.BindingConditions, d.BindingFailureConditions, path)...)
}

func validateConsumption(all []resourcev1.DeviceCounterConsumption, path *field.Path) (errs field.ErrorList) {
	if len(all) > resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice {
		return field.ErrorList{field.TooMany(path, len(all), resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice)}
	}
	for i, c := range all {
		errs = append(errs, validateCounters(c.Counters, resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption, path.Index(i).Child("counters"))...)
	}
	return append(errs, twice(all, func(c resourcev1.DeviceCounterConsumption) string { return c.CounterSet }, path)...)
}

func validateNodesOfDevice(d *resourcev1.Device, each bool, path *field.Path) field.ErrorList {
	const one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	if !each {
		if d.NodeName == nil && d.NodeSelector == nil && d.AllNodes == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(path, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")}
	}
	said, errs := ways(path, "must not be empty", d.NodeName, d.NodeSelector, d.AllNodes, nil)
	switch len(said) {
	case 0:
		errs = append(errs, field.Required(path, one))
	case 1:
	default:
		errs = append(errs, field.Invalid(path, "{"+strings.Join(said, ", ")+"}", one))
	}
	return errs
}
