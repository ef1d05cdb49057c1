package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The resources without a prefix: those that containers compute with, and those
// that are counted.
var (
	computed = sets.New("cpu", "memory", "ephemeral-storage")
	standard = computed.Union(sets.New("requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage",
		"storage", "requests.storage")).Union(counted)
	counted = sets.New("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps", "services.nodeports", "services.loadbalancers")
)

// native tells that a resource is one of Kubernetes' own.
func native(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, corev1.ResourceDefaultNamespacePrefix)
}

// extended tells that a resource is one of a device plugin.
func extended(name string) bool {
	return !native(name) && !strings.HasPrefix(name, corev1.DefaultResourceRequestsPrefix) && validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+name) == nil
}

func hugePages(name string) bool { return strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) }

// overcommitted tells that more of a resource may be promised than there is.
func overcommitted(name string) bool { return native(name) && !hugePages(name) }

// amounts are what a map says of resources. What is no quantity the schema refuses.
func amounts(v any) map[string]resource.Quantity {
	m, _ := v.(map[string]any)
	out := make(map[string]resource.Quantity, len(m))
	for name, x := range m {
		if q, err := resource.ParseQuantity(fmt.Sprint(x)); err == nil {
			out[name] = q
		}
	}
	return out
}

// ofResource checks a name; it returns nothing for one that there is.
func ofResource(name string, at *field.Path) field.ErrorList {
	if errs := problems(at, name, validation.IsQualifiedName(name)); errs != nil {
		return errs
	}
	if !strings.Contains(name, "/") && !standard.Has(name) && !hugePages(strings.TrimPrefix(name, corev1.DefaultResourceRequestsPrefix)) {
		return field.ErrorList{field.Invalid(at, name, "must be a standard resource type or fully qualified")}
	}
	return nil
}

// ofContainer is ofResource for the resources of a container.
func ofContainer(name string, at *field.Path) field.ErrorList {
	errs := ofResource(name, at)
	switch {
	case !strings.Contains(name, "/") && !computed.Has(name) && !hugePages(name):
		errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
	case !native(name) && !extended(name):
		errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
	}
	return errs
}

// ofPod is ofResource for the resources of all containers of a pod together.
func ofPod(name string, at *field.Path) field.ErrorList {
	errs := ofResource(name, at)
	if errs == nil && name != "cpu" && name != "memory" && !hugePages(name) {
		errs = field.ErrorList{field.NotSupported(at, name, []string{"cpu", "hugepages-", "memory"})}
	}
	return errs
}

// amount checks how much there is of a resource.
func amount(name string, q resource.Quantity, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if q.Sign() < 0 {
		errs = append(errs, field.Invalid(at, q.String(), apivalidation.IsNegativeErrorMsg))
	}
	if (counted.Has(name) || extended(name)) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(at, q.String(), "must be an integer"))
	}
	if hugePages(name) && !divisible(name, q) {
		errs = append(errs, field.Invalid(at, q.String(), q.String()+" is not positive integer multiple of "+name))
	}
	return errs
}

// divisible tells that an amount is that of whole pages, whose size is in their
// name.
func divisible(name string, q resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(name, corev1.ResourceHugePagesPrefix))
	return err == nil && size.Sign() > 0 && size.MilliValue()%1000 == 0 && q.Sign() >= 0 && q.MilliValue()%1000 == 0 && q.Value()%size.Value() == 0
}

// containerResources checks the requests and limits of a container.
func containerResources(v any, at *field.Path) field.ErrorList {
	m, _ := v.(map[string]any)
	if len(m) == 0 {
		return nil
	}
	return requirements(m, at, ofContainer)
}

// containerLimits checks amounts as if they were the limits of a container.
func containerLimits(v any, at *field.Path) field.ErrorList {
	return requirements(map[string]any{"limits": v}, at, ofContainer)
}

// podResources checks those of all containers of a pod together.
func podResources(v any, at *field.Path) field.ErrorList {
	m, _ := v.(map[string]any)
	errs := requirements(m, at, ofPod)
	if m["claims"] != nil {
		errs = append(errs, field.Forbidden(at.Child("claims"), "claims may not be set for Resources at pod-level"))
	}
	return errs
}

// requirements checks requests and limits, and that they fit.
func requirements(m map[string]any, at *field.Path, named func(string, *field.Path) field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	limits, requests := amounts(m["limits"]), amounts(m["requests"])
	computes, pages := false, false
	for _, list := range []struct {
		of   map[string]resource.Quantity
		path *field.Path
	}{{limits, at.Child("limits")}, {requests, at.Child("requests")}} {
		for _, name := range slices.Sorted(maps.Keys(list.of)) {
			errs = append(errs, named(name, list.path.Key(name))...)
			errs = append(errs, amount(name, list.of[name], list.path.Key(name))...)
			computes = computes || name == "cpu" || name == "memory"
			pages = pages || hugePages(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		q := requests[name]
		limit, bounded := limits[name]
		switch {
		case !bounded && !overcommitted(name):
			errs = append(errs, field.Required(at.Child("limits"), "Limit must be set for non overcommitable resources"))
		case bounded && !overcommitted(name) && q.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(at.Child("requests"), q.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case bounded && q.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(at.Child("requests"), q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	if pages && !computes {
		errs = append(errs, field.Forbidden(at, "HugePages require cpu or memory"))
	}
	return errs
}

// amountsOfNode checks how much a node has of each resource.
func amountsOfNode(v any, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	of := amounts(v)
	for _, name := range slices.Sorted(maps.Keys(of)) {
		errs = append(errs, amount(name, of[name], at.Child(name))...)
	}
	return errs
}

// containerResource checks the name of one resource of a container.
func containerResource(v any, at *field.Path) field.ErrorList {
	name, _ := v.(string)
	return ofContainer(name, at)
}

// resourceName checks the name of one resource of anything.
func resourceName(v any, at *field.Path) field.ErrorList {
	name, _ := v.(string)
	return ofResource(name, at)
}

// extendedResource checks the name of a resource of a device plugin.
func extendedResource(v any, at *field.Path) field.ErrorList {
	if name, _ := v.(string); !extended(name) {
		return field.ErrorList{field.Invalid(at, name, "must be a valid extended resource name")}
	}
	return nil
}
