package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
	needed := ContainerTotals(&pod.Spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests })
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		q := needed[name]
		if least, ok := whole.Requests[name]; ok && q.Cmp(least) > 0 {
			errs = append(errs, field.Invalid(at.Child("requests").Key(string(name)), least.String(), "must be greater than or equal to aggregate container requests of "+q.String()))
		}
	}
	most := ContainerTotals(&pod.Spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits })
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

// ContainerTotals are, of what list gives of each container, what all containers of a pod
// have at a time at most: those that run together, or one that starts beside the sidecars
// before it. It changes nothing of spec, and the caller may change the result. It is what
// the functions of component-helpers find, which go through the resources of all sidecars
// once more for each container that starts.
func ContainerTotals(spec *corev1.PodSpec, list func(corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	total, sidecars, most := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.Containers {
		for name, q := range list(spec.Containers[i].Resources) {
			addTo(total, name, q)
		}
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		stays := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		for name, q := range list(c.Resources) { // of other names nothing more is needed than before
			if stays {
				addTo(total, name, q)
				addTo(sidecars, name, q)
				raise(most, name, sidecars[name])
				continue
			}
			beside := q.DeepCopy()
			beside.Add(sidecars[name])
			raise(most, name, beside)
		}
	}
	for name, q := range most {
		raise(total, name, q)
	}
	return total
}

func addTo(list corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	sum := list[name].DeepCopy()
	sum.Add(q)
	list[name] = sum
}

// raise makes what a list has of a resource at least as much as q.
func raise(list corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	if had, ok := list[name]; !ok || q.Cmp(had) > 0 {
		list[name] = q.DeepCopy()
	}
}
