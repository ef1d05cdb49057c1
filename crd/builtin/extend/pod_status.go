package extend

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
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
	spec := new(corev1.PodSpec)
	if object.ToTyped(object.Child(old, "spec"), spec) != nil {
		return errs // what is stored is as it was taken
	}
	for _, k := range []struct {
		list string
		of   []corev1.Container
	}{{"containerStatuses", spec.Containers}, {"initContainerStatuses", spec.InitContainers}} {
		if !restartsAll(spec) {
			errs = append(errs, revived(now[k.list], was[k.list], at.Child(k.list), func(name string, code int64) bool {
				i := slices.IndexFunc(k.of, func(c corev1.Container) bool { return c.Name == name })
				return i >= 0 && restarts(&k.of[i], spec.RestartPolicy, code)
			})...)
		}
	}
	const list = "ephemeralContainerStatuses" // which never run twice
	return append(errs, revived(now[list], was[list], at.Child(list), func(string, int64) bool { return false })...)
}

// revived are the containers that had ended and do not now, of those that are not run again.
func revived(now, was any, at *field.Path, again func(name string, code int64) bool) (errs field.ErrorList) {
	is := object.Objects(now)
	for i, before := range object.Objects(was) {
		name, ended := object.TextAt(before, "name"), object.Child(before, "state", "terminated")
		if ended == nil {
			continue
		}
		code, _ := ended["exitCode"].(int64)
		alive := slices.ContainsFunc(is, func(c map[string]any) bool {
			return object.TextAt(c, "name") == name && object.Child(c, "state", "terminated") == nil
		})
		if alive && !again(name, code) {
			errs = append(errs, field.Forbidden(at.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// restartsAll tells a pod in which the end of one container may start all of them again.
func restartsAll(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
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
