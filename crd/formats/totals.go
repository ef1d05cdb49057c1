package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/wasmgate/wasmgate/crd/object"
)

// podTotals compares what a pod, or a template of one, says of its resources as a whole with
// what all its containers need at a time, and of what cannot be shared may have.
func podTotals(v any, at *field.Path) (errs field.ErrorList) {
	tree, _ := v.(map[string]any)
	if tree["resources"] == nil {
		return nil
	}
	at = at.Child("resources")
	if object.TextAt(tree, "os", "name") == string(corev1.Windows) {
		return field.ErrorList{field.Forbidden(at, "may not be set for a windows pod")}
	}
	pod := new(corev1.Pod)
	if object.ToTyped(tree, &pod.Spec) != nil {
		return nil // the schema says why
	}
	whole := pod.Spec.Resources
	needed := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		q := needed[name]
		if least, ok := whole.Requests[name]; ok && q.Cmp(least) > 0 {
			errs = append(errs, field.Invalid(at.Child("requests").Key(string(name)), least.String(), "must be greater than or equal to aggregate container requests of "+q.String()))
		}
	}
	most := resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(most)) {
		q := most[name]
		if limit, ok := whole.Limits[name]; ok && strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) && q.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(at.Child("limits").Key(string(name)), limit.String(), "must be greater than or equal to aggregate container limits of "+q.String()))
		}
	}
	for i, c := range pod.Spec.Containers {
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
			q := c.Resources.Limits[name]
			if limit, ok := whole.Limits[name]; ok && q.Cmp(limit) > 0 {
				errs = append(errs, field.Invalid(at.Child("containers").Index(i).Key(string(name)).Child("limits"), q.String(), fmt.Sprintf("must be less than or equal to pod limits of %s", limit.String())))
			}
		}
	}
	return errs
}
