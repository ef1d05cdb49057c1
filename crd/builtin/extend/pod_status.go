package extend

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// validatePodStatus refuses a status by which a pod that is on a node hopes for one, or in
// which a container goes on that has ended for good.
func validatePodStatus(obj, old map[string]any) (errs field.ErrorList) {
	now, was, at := object.Child(obj, "status"), object.Child(old, "status"), field.NewPath("status")
	const nominated = "nominatedNodeName"
	if hoped := object.TextAt(now, nominated); object.TextAt(old, "spec", "nodeName") != "" && hoped != "" && hoped != object.TextAt(was, nominated) {
		errs = append(errs, field.Forbidden(at.Child(nominated), "may not be set on pods that are already bound to a node"))
	}
	const init, own, ephemeral = "initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"
	lists := map[string][]endedContainer{}
	for _, list := range []string{init, own, ephemeral} {
		lists[list] = revived(now[list], was[list])
	}
	claim, atClaim := object.Child(now, "extendedResourceClaimStatus"), at.Child("extendedResourceClaimStatus")
	if len(lists[init])+len(lists[own])+len(claim) > 0 { // else the spec need not be read, as for most
		spec := new(corev1.PodSpec)
		if object.ToTyped(object.Child(old, "spec"), spec) != nil {
			return errs // what is stored is as it was taken
		}
		errs = append(errs, validateMappings(claim, spec, atClaim)...)
		lists[init] = forGood(lists[init], spec, spec.InitContainers)
		lists[own] = forGood(lists[own], spec, spec.Containers)
	}
	for _, list := range []string{own, init, ephemeral} { // of which the last never run twice
		for _, c := range lists[list] {
			errs = append(errs, field.Forbidden(at.Child(list).Index(c.index).Child("state"), "may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// validateMappings checks which requests of a claim stand for which resources of which
// containers.
func validateMappings(claim map[string]any, spec *corev1.PodSpec, at *field.Path) (errs field.ErrorList) {
	requests := map[string]corev1.ResourceList{}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		requests[c.Name] = c.Resources.Requests
	}
	seen := map[[3]string]bool{}
	for i, m := range object.Objects(claim["requestMappings"]) {
		path := at.Child("requestMappings").Index(i)
		names := [3]string{object.TextAt(m, "containerName"), object.TextAt(m, "resourceName"), object.TextAt(m, "requestName")}
		list, known := requests[names[0]]
		if _, has := list[corev1.ResourceName(names[1])]; known && !has {
			errs = append(errs, field.Invalid(path.Child("resourceName"), names[1], "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests"))
		}
		if !known {
			errs = append(errs, field.Invalid(path.Child("containerName"), names[0], "must match the name of an entry in spec.initContainers.name or spec.containers.name"))
		}
		for _, why := range validation.IsDNS1123Label(names[2]) {
			errs = append(errs, field.Invalid(at.Child("requestName"), names[2], why)) // where kube-apiserver puts it
		}
		for j, name := range []string{"containerName", "resourceName", "requestName"} {
			if seen[names] {
				errs = append(errs, field.Duplicate(path.Child(name), names[j]))
			}
		}
		seen[names] = true
	}
	return errs
}

// endedContainer is a container that had ended: where its status was in the list, and its code.
type endedContainer struct {
	index int
	name  string
	code  int64
}

// revived are the containers that had ended and do not now.
func revived(now, was any) (out []endedContainer) {
	var alive map[string]bool
	for i, before := range object.Objects(was) {
		end := object.Child(before, "state", "terminated")
		if end == nil {
			continue
		}
		if alive == nil {
			alive = map[string]bool{}
			for _, c := range object.Objects(now) {
				name := object.TextAt(c, "name")
				alive[name] = alive[name] || object.Child(c, "state", "terminated") == nil
			}
		}
		code, _ := end["exitCode"].(int64)
		if name := object.TextAt(before, "name"); alive[name] {
			out = append(out, endedContainer{i, name, code})
		}
	}
	return out
}

// forGood are those of the containers that had ended that are not run again.
func forGood(all []endedContainer, spec *corev1.PodSpec, of []corev1.Container) []endedContainer {
	if len(all) == 0 || restartsAll(spec.InitContainers) || restartsAll(spec.Containers) {
		return nil
	}
	named := map[string]*corev1.Container{}
	for i := range of {
		named[of[i].Name] = &of[i]
	}
	return slices.DeleteFunc(all, func(c endedContainer) bool {
		return named[c.name] != nil && restarts(named[c.name], spec.RestartPolicy, c.code)
	})
}

// restartsAll tells that the end of one of the containers may start all of them again.
func restartsAll(of []corev1.Container) bool {
	return slices.ContainsFunc(of, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool {
			return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
		})
	})
}

// restarts tells whether a container that ended with a code is run again: by its own rules,
// which count only beside a policy of its own, by that policy, or by the pod's.
func restarts(c *corev1.Container, ofPod corev1.RestartPolicy, code int64) bool {
	policy := ofPod
	if c.RestartPolicy != nil {
		if slices.ContainsFunc(c.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool { return exits(r, code) }) {
			return true // there is no action but to run again
		}
		policy = corev1.RestartPolicy(*c.RestartPolicy)
	}
	switch policy {
	case corev1.RestartPolicyOnFailure:
		return code != 0
	case corev1.RestartPolicyNever:
		return false
	}
	return true
}

// exits tells whether a rule is about the code that a container ended with.
func exits(r corev1.ContainerRestartRule, code int64) bool {
	if r.ExitCodes == nil {
		return false
	}
	listed := slices.Contains(r.ExitCodes.Values, int32(code))
	switch r.ExitCodes.Operator {
	case corev1.ContainerRestartRuleOnExitCodesOpIn:
		return listed
	case corev1.ContainerRestartRuleOnExitCodesOpNotIn:
		return !listed
	}
	return false
}
