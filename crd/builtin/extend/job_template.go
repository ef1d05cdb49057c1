package extend

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateJobTemplate lets the pods of a job be others only while none of them can be
// there: where they run and what resources they have.
func validateJobTemplate(job, before *batchv1.Job) field.ErrorList {
	const fixed = "field is immutable"
	at, now, was := field.NewPath("spec", "template"), &job.Spec.Template, before.Spec.Template.DeepCopy()
	if !rests(before) {
		if !equality.Semantic.DeepEqual(*now, *was) {
			return field.ErrorList{field.Invalid(at, field.OmitValueType{}, fixed)}
		}
		return nil
	}
	was.Spec.NodeSelector, was.Spec.Tolerations, was.Spec.SchedulingGates = now.Spec.NodeSelector, now.Spec.Tolerations, now.Spec.SchedulingGates
	was.Spec.Affinity = withNodeAffinity(was.Spec.Affinity, now.Spec.Affinity)
	takeResources(was.Spec.Containers, now.Spec.Containers)
	takeResources(was.Spec.InitContainers, now.Spec.InitContainers)
	if !equality.Semantic.DeepEqual(now.Spec, was.Spec) {
		return field.ErrorList{field.Invalid(at.Child("spec"), field.OmitValueType{}, fixed)}
	}
	return nil
}

// rests tells that a job is suspended and has no pods.
func rests(job *batchv1.Job) bool {
	suspended := func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue
	}
	return job.Spec.Suspend != nil && *job.Spec.Suspend && job.Status.Active == 0 &&
		(job.Status.StartTime == nil || slices.ContainsFunc(job.Status.Conditions, suspended))
}

// withNodeAffinity is an affinity with the one to nodes that is in another.
func withNodeAffinity(was, now *corev1.Affinity) *corev1.Affinity {
	out := &corev1.Affinity{}
	if was != nil {
		*out = *was
	}
	out.NodeAffinity = nil
	if now != nil {
		out.NodeAffinity = now.NodeAffinity
	} else if *out == (corev1.Affinity{}) {
		return nil
	}
	return out
}

// takeResources gives containers the resources of those of the same place and name.
func takeResources(into, from []corev1.Container) {
	if len(into) != len(from) {
		return
	}
	for i := range into {
		if into[i].Name == from[i].Name {
			into[i].Resources = from[i].Resources
		}
	}
}
