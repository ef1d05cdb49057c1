package resourcequota

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// scopes are what scopes of quotas ask of an object.
type scopes struct {
	// pod: it is one, and else a claim.
	pod, terminating, bestEffort, abroad bool
	// class is the priority class of a pod, classes are the attribute classes of
	// a claim.
	classes []string
}

func podScopes(p *corev1.Pod) scopes {
	s := scopes{pod: true, bestEffort: true, abroad: abroad(p.Spec.Affinity), terminating: terminating(p)}
	if p.Spec.PriorityClassName != "" {
		s.classes = []string{p.Spec.PriorityClassName}
	}
	all := []corev1.ResourceRequirements{}
	if p.Spec.Resources != nil {
		all = append(all, *p.Spec.Resources)
	}
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		all = append(all, c.Resources)
	}
	for _, r := range all {
		for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if q := list[name]; q.Sign() > 0 {
					s.bestEffort = false
				}
			}
		}
	}
	return s
}

// terminating tells that a pod ends by itself.
func terminating(p *corev1.Pod) bool {
	return p.Spec.ActiveDeadlineSeconds != nil && *p.Spec.ActiveDeadlineSeconds >= 0
}

// abroad tells that pods of other namespaces matter for where a pod runs.
func abroad(a *corev1.Affinity) bool {
	if a == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	var weighted []corev1.WeightedPodAffinityTerm
	if p := a.PodAffinity; p != nil {
		terms, weighted = slices.Concat(terms, p.RequiredDuringSchedulingIgnoredDuringExecution), slices.Concat(weighted, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		terms, weighted = slices.Concat(terms, p.RequiredDuringSchedulingIgnoredDuringExecution), slices.Concat(weighted, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	for _, w := range weighted {
		terms = append(terms, w.PodAffinityTerm)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil })
}

func claimScopes(c *corev1.PersistentVolumeClaim) (s scopes) {
	add := func(class *string) {
		if class != nil && *class != "" && !slices.Contains(s.classes, *class) {
			s.classes = append(s.classes, *class)
		}
	}
	add(c.Spec.VolumeAttributesClassName)
	add(c.Status.CurrentVolumeAttributesClassName)
	if m := c.Status.ModifyVolumeStatus; m != nil {
		add(&m.TargetVolumeAttributesClassName)
	}
	return s
}

// selected tells whether the object is in a scope.
func (s scopes) selected(r selector) (bool, error) {
	if !s.pod {
		if r.ScopeName != corev1.ResourceQuotaScopeVolumeAttributesClass {
			return false, nil
		}
		return s.ofClass(r)
	}
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return s.terminating, nil
	case corev1.ResourceQuotaScopeNotTerminating:
		return !s.terminating, nil
	case corev1.ResourceQuotaScopeBestEffort:
		return s.bestEffort, nil
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !s.bestEffort, nil
	case corev1.ResourceQuotaScopePriorityClass:
		return s.ofClass(r)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return s.abroad, nil
	}
	return false, nil
}

// selector is what a quota asks of an object. It is read once for all objects that
// are counted, as it may list thousands of classes.
type selector struct {
	corev1.ScopedResourceSelectorRequirement
	// classes tells which; the requirement is nil if the operator selects none.
	classes func() (*labels.Requirement, error)
}

func newSelector(r corev1.ScopedResourceSelectorRequirement) selector {
	return selector{r, sync.OnceValues(func() (*labels.Requirement, error) {
		operator, ok := map[corev1.ScopeSelectorOperator]selection.Operator{
			corev1.ScopeSelectorOpIn: selection.In, corev1.ScopeSelectorOpNotIn: selection.NotIn,
			corev1.ScopeSelectorOpExists: selection.Exists, corev1.ScopeSelectorOpDoesNotExist: selection.DoesNotExist,
		}[r.Operator]
		if !ok {
			return nil, nil
		}
		return labels.NewRequirement(string(r.ScopeName), operator, r.Values)
	})}
}

// ofClass tells whether a requirement selects one of the object's classes.
func (s scopes) ofClass(r selector) (bool, error) {
	requirement, err := r.classes()
	if requirement == nil || err != nil {
		return false, err
	}
	if len(s.classes) == 0 {
		return requirement.Matches(labels.Set{}), nil
	}
	return slices.ContainsFunc(s.classes, func(c string) bool { return requirement.Matches(labels.Set{string(r.ScopeName): c}) }), nil
}
