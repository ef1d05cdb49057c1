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
	const init, own, ephemeral = "initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"
	lists := map[string][]endedContainer{}
	for _, list := range []string{init, own, ephemeral} {
		lists[list] = revived(now[list], was[list])
	}
	if len(lists[init])+len(lists[own]) > 0 { // else the spec need not be read, as for most
		spec := new(corev1.PodSpec)
		if object.ToTyped(object.Child(old, "spec"), spec) != nil {
			return errs // what is stored is as it was taken
		}
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
