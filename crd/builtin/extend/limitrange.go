package extend

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/formats"
	"github.com/wasmgate/wasmgate/crd/object"
)

// validateLimitRange refuses limits that contradict each other, or that their
// type does not have.
func validateLimitRange(_ string, obj, _ map[string]any) (errs field.ErrorList) {
	r := new(corev1.LimitRange)
	if object.ToTyped(obj, r) != nil {
		return nil // the schema says why
	}
	types := map[corev1.LimitType]bool{}
	for i := range r.Spec.Limits {
		item, path := &r.Spec.Limits[i], field.NewPath("spec", "limits").Index(i)
		if types[item.Type] {
			errs = append(errs, field.Duplicate(path.Child("type"), item.Type))
		}
		types[item.Type] = true
		errs = append(errs, validateLimitType(string(item.Type), path.Child("type"))...)
		switch item.Type {
		case corev1.LimitTypePod:
			for name, list := range map[string]corev1.ResourceList{"default": item.Default, "defaultRequest": item.DefaultRequest} {
				if len(list) > 0 {
					errs = append(errs, field.Forbidden(path.Child(name), "may not be specified when `type` is 'Pod'"))
				}
			}
		case corev1.LimitTypePersistentVolumeClaim:
			_, least := item.Min[corev1.ResourceStorage]
			if _, most := item.Max[corev1.ResourceStorage]; !least && !most {
				errs = append(errs, field.Required(path.Child("limits"), "either minimum or maximum storage value is required, but neither was provided"))
			}
		}
		errs = append(errs, validateLimitNames(item, path)...)
		errs = append(errs, validateBounds(item, path)...)
	}
	return errs
}

// validateLimitType checks what limits are of: one of the types that Kubernetes has,
// or one whose name says whose it is.
func validateLimitType(name string, path *field.Path) (errs field.ErrorList) {
	for _, problem := range validation.IsQualifiedName(name) {
		errs = append(errs, field.Invalid(path, name, problem))
	}
	standard := []corev1.LimitType{corev1.LimitTypePod, corev1.LimitTypeContainer, corev1.LimitTypePersistentVolumeClaim}
	if errs == nil && !strings.Contains(name, "/") && !slices.Contains(standard, corev1.LimitType(name)) {
		errs = append(errs, field.Invalid(path, name, "must be a standard limit type or fully qualified"))
	}
	return errs
}

// validateLimitNames checks the names of the resources that are limited.
func validateLimitNames(item *corev1.LimitRangeItem, path *field.Path) (errs field.ErrorList) {
	format := "container-resource"
	if item.Type != corev1.LimitTypePod && item.Type != corev1.LimitTypeContainer {
		format = "resource"
	}
	check, err := formats.Of(format)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	for _, list := range []struct {
		name string
		of   corev1.ResourceList
	}{{"max", item.Max}, {"min", item.Min}, {"default", item.Default}, {"defaultRequest", item.DefaultRequest}, {"maxLimitRequestRatio", item.MaxLimitRequestRatio}} {
		for _, name := range slices.Sorted(maps.Keys(list.of)) {
			errs = append(errs, check(string(name), path.Child(list.name).Key(string(name)))...)
		}
	}
	return errs
}

// nameLimitRange gives limits a name that came without.
func nameLimitRange(_ context.Context, obj map[string]any) {
	if meta := object.Ensure(obj, "metadata"); object.TextAt(obj, "metadata", "name") == "" {
		meta["name"] = string(uuid.NewUUID())
	}
}

// validateBounds compares what an item says of each resource.
func validateBounds(item *corev1.LimitRangeItem, path *field.Path) (errs field.ErrorList) {
	all := map[corev1.ResourceName]bool{}
	for _, list := range []corev1.ResourceList{item.Max, item.Min, item.Default, item.DefaultRequest, item.MaxLimitRequestRatio} {
		for name := range list {
			all[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		order := func(low, high corev1.ResourceList, field string, shown corev1.ResourceList, text string) {
			l, ok := low[name]
			h, also := high[name]
			if shown := shown[name]; ok && also && l.Cmp(h) > 0 {
				errs = append(errs, invalidQuantity(path.Child(field).Key(string(name)), shown, fmt.Sprintf(text, l.String(), h.String())))
			}
		}
		order(item.Min, item.Max, "min", item.Min, "min value %s is greater than max value %s")
		order(item.Min, item.DefaultRequest, "defaultRequest", item.DefaultRequest, "min value %s is greater than default request value %s")
		order(item.DefaultRequest, item.Max, "defaultRequest", item.DefaultRequest, "default request value %s is greater than max value %s")
		order(item.DefaultRequest, item.Default, "defaultRequest", item.DefaultRequest, "default request value %s is greater than default limit value %s")
		order(item.Min, item.Default, "default", item.Min, "min value %s is greater than default value %s")
		order(item.Default, item.Max, "default", item.Max, "default value %s is greater than max value %s")
		ratio, ok := item.MaxLimitRequestRatio[name]
		at := path.Child("maxLimitRequestRatio").Key(string(name))
		if ok && ratio.Cmp(resource.MustParse("1")) < 0 {
			errs = append(errs, invalidQuantity(at, ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String())))
		}
		low, bounded := item.Min[name]
		high, both := item.Max[name]
		if most := high.AsApproximateFloat64() / low.AsApproximateFloat64(); ok && bounded && both && ratio.AsApproximateFloat64() > most {
			errs = append(errs, invalidQuantity(at, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), most)))
		}
		errs = append(errs, validateDefaults(item, name, path)...)
	}
	return errs
}

// validateDefaults refuses that what cannot be overcommitted is requested and limited by
// different amounts.
func validateDefaults(item *corev1.LimitRangeItem, name corev1.ResourceName, path *field.Path) field.ErrorList {
	limit, limited := item.Default[name]
	request, requested := item.DefaultRequest[name]
	overcommitted := isNative(name) && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
	if overcommitted || !limited || !requested || limit.Cmp(request) == 0 {
		return nil
	}
	why := fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", limit.String(), request.String(), name)
	return field.ErrorList{invalidQuantity(path.Child("defaultRequest").Key(string(name)), request, why)}
}

// isNative tells a resource of Kubernetes' own from one that others define.
func isNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

func invalidQuantity(path *field.Path, q resource.Quantity, why string) *field.Error {
	return field.Invalid(path, q.String(), why)
}
