package extend

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// resized is the spec of a pod with the sizes that are wanted, which are all that a
// resize writes; false for one of other containers, which is refused.
func resized(spec, wanted map[string]any) bool {
	for _, list := range []string{"containers", "initContainers"} {
		now, was := object.Objects(wanted[list]), object.Objects(spec[list])
		if len(now) != len(was) {
			return false
		}
		for i, c := range was {
			if object.TextAt(c, "name") != object.TextAt(now[i], "name") {
				return false
			}
			object.Keep(c, now[i], "resources")
			object.Keep(c, now[i], "resizePolicy")
		}
	}
	object.Keep(spec, wanted, "resources")
	return true
}

// validateResize refuses changes of a pod's resources that no node could make.
func validateResize(obj, old map[string]any) (errs field.ErrorList) {
	pod, before := new(corev1.Pod), new(corev1.Pod)
	if object.ToTyped(obj, pod) != nil || object.ToTyped(old, before) != nil {
		return nil // the schema says why
	}
	spec := field.NewPath("spec")
	switch {
	case isStatic(old):
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods cannot be resized")}
	case before.Spec.OS != nil && before.Spec.OS.Name == corev1.Windows:
		return field.ErrorList{field.Forbidden(field.NewPath(""), "windows pods cannot be resized")}
	}
	class := before.Status.QOSClass
	if class == "" {
		class = qosClass(before)
	}
	if class != qosClass(pod) {
		errs = append(errs, field.Invalid(spec, string(pod.Status.QOSClass), "Pod QOS Class may not change as a result of resizing"))
	}
	if !nodeResizes(before) {
		errs = append(errs, field.Forbidden(spec, "Pod running on node without support for resize"))
	}
	errs = append(errs, validateTotalsResize(pod, before, spec)...)
	if !sameNames(pod.Spec.Containers, before.Spec.Containers) {
		return append(errs, field.Forbidden(spec.Child("containers"), "containers may not be added or removed on resize"))
	}
	if !sameNames(pod.Spec.InitContainers, before.Spec.InitContainers) {
		return append(errs, field.Forbidden(spec.Child("initContainers"), "initContainers may not be added or removed on resize"))
	}
	for i, c := range pod.Spec.InitContainers {
		was, at := before.Spec.InitContainers[i], spec.Child("initContainers").Index(i)
		errs = append(errs, validateSmaller(c.Resources, was.Resources, at.Child("resources"), "resource ")...)
		if !equality.Semantic.DeepEqual(unsized(c, was), was) {
			errs = append(errs, field.Forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable"))
		}
		if sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways; sidecar || equality.Semantic.DeepEqual(c, was) {
			continue
		}
		for _, p := range c.ResizePolicy {
			if p.RestartPolicy == corev1.RestartContainer {
				errs = append(errs, field.Forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
			}
		}
	}
	for i, c := range pod.Spec.Containers {
		was := before.Spec.Containers[i]
		errs = append(errs, validateSmaller(c.Resources, was.Resources, spec.Child("containers").Index(i).Child("resources"), "resource ")...)
		if !equality.Semantic.DeepEqual(unsized(c, was), was) {
			errs = append(errs, field.Forbidden(spec, "only cpu and memory resources are mutable"))
		}
	}
	return errs
}

// validateTotalsResize is validateResize of the resources of the pod itself.
func validateTotalsResize(pod, before *corev1.Pod, spec *field.Path) (errs field.ErrorList) {
	now, was := pod.Spec.Resources, before.Spec.Resources
	switch {
	case now == nil && was == nil:
		return nil
	case now == nil:
		return field.ErrorList{field.Forbidden(spec.Child("resources"), "pod-level resources cannot be removed")}
	case was == nil:
		was = &corev1.ResourceRequirements{}
	}
	errs = validateSmaller(*now, *was, spec.Child("resources"), "pod-level resource ")
	fixed := corev1.ResourceRequirements{Limits: othersOf(now.Limits, was.Limits), Requests: othersOf(now.Requests, was.Requests), Claims: now.Claims}
	if !equality.Semantic.DeepEqual(fixed, *was) {
		errs = append(errs, field.Forbidden(spec, "only cpu and memory resources are mutable at pod-level"))
	}
	return errs
}

// validateSmaller refuses to take away what was requested or limited.
func validateSmaller(now, was corev1.ResourceRequirements, at *field.Path, what string) (errs field.ErrorList) {
	if removed(now.Requests, was.Requests) {
		errs = append(errs, field.Forbidden(at.Child("requests"), what+"requests cannot be removed"))
	}
	if removed(now.Limits, was.Limits) {
		errs = append(errs, field.Forbidden(at.Child("limits"), what+"limits cannot be removed"))
	}
	return errs
}

func removed(now, was corev1.ResourceList) bool {
	for name := range was {
		if _, ok := now[name]; !ok {
			return true
		}
	}
	return false
}

// unsized is a container with the processors and the memory that it had.
func unsized(now, was corev1.Container) corev1.Container {
	now.Resources = corev1.ResourceRequirements{
		Limits: othersOf(now.Resources.Limits, was.Resources.Limits), Requests: othersOf(now.Resources.Requests, was.Resources.Requests),
	}
	return now
}

// othersOf are resources of which processors and memory are as they were.
func othersOf(now, was corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range now {
		out[name] = q
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		delete(out, name)
		if q, ok := was[name]; ok {
			out[name] = q
		}
	}
	return out
}

func sameNames(a, b []corev1.Container) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name {
			return false
		}
	}
	return true
}

// nodeResizes tells whether the node that a pod runs on can resize it: it tells the
// resources of what runs.
func nodeResizes(pod *corev1.Pod) bool {
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running != nil {
			return c.Resources != nil
		}
	}
	return true
}
