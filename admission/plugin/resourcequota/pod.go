package resourcequota

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	library "k8s.io/apiserver/pkg/quota/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

var podKind = kind[*corev1.Pod]{gr: Pods, counts: podResource, usage: PodUsage, requires: podRequires, changes: func(old, now *corev1.Pod) bool {
	return terminating(old) != terminating(now) // its other scopes cannot change
}, selected: func(s corev1.ScopedResourceSelectorRequirement, o runtime.Object) (bool, error) {
	p, err := one[*corev1.Pod](o)
	if err != nil {
		return false, err
	}
	return podScopes(p).selected(newSelector(s))
}}

// computed are the resources of which a quota limits requests and limits.
var computed = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

const (
	requestsPrefix = corev1.DefaultResourceRequestsPrefix
	limitsPrefix   = "limits."
	hugePages      = corev1.ResourceHugePagesPrefix
)

func podResource(name corev1.ResourceName) bool {
	if name == corev1.ResourcePods || name == countOf(Pods) || slices.Contains(computed, name) || strings.HasPrefix(string(name), hugePages) {
		return true
	}
	if limited, ok := strings.CutPrefix(string(name), limitsPrefix); ok {
		return slices.Contains(computed, corev1.ResourceName(limited))
	}
	requested, ok := strings.CutPrefix(string(name), requestsPrefix)
	return ok && (slices.Contains(computed, corev1.ResourceName(requested)) || strings.HasPrefix(requested, hugePages) || extended(requested))
}

// extended tells that a resource is none of Kubernetes' own.
func extended(name string) bool {
	return strings.Contains(name, "/") && !strings.Contains(name, corev1.ResourceDefaultNamespacePrefix)
}

// PodUsage is what a pod uses. One that has ended, or should have, is only an
// object.
func PodUsage(p *corev1.Pod) corev1.ResourceList {
	out := corev1.ResourceList{countOf(Pods): number(1)}
	if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded || overdue(p) {
		return out
	}
	o := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	maps.Copy(out, containerUsage(resourcehelper.PodRequests(p, o), resourcehelper.PodLimits(p, o)))
	return out
}

// overdue tells that a pod should have ended: maybe its node is lost.
func overdue(p *corev1.Pod) bool {
	if p.DeletionTimestamp == nil || p.DeletionGracePeriodSeconds == nil {
		return false
	}
	return time.Now().After(p.DeletionTimestamp.Add(time.Duration(*p.DeletionGracePeriodSeconds) * time.Second))
}

// containerUsage is what such requests and limits use, under all the names that
// quotas have for it.
func containerUsage(requests, limits corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{corev1.ResourcePods: number(1)}
	for name, q := range requests {
		own := slices.Contains(computed, name) || strings.HasPrefix(string(name), hugePages)
		if own {
			out[name] = q
		}
		if own || extended(string(name)) {
			out[requestsPrefix+name] = q
		}
	}
	for _, name := range computed {
		if q, ok := limits[name]; ok {
			out[limitsPrefix+name] = q
		}
	}
	return out
}

// explicit are the resources that each container has to ask for, or to be
// limited in, if a quota limits them.
var explicit = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
}

func podRequires(required []corev1.ResourceName, p *corev1.Pod) error {
	if resourcehelper.IsPodLevelResourcesSet(p) {
		return nil // the pod as a whole says it
	}
	missing := map[string]map[string]bool{} // sets: a pod may have many thousands of containers
	names := library.Intersection(required, explicit)
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		said := containerUsage(c.Resources.Requests, c.Resources.Limits)
		for _, name := range names {
			if _, ok := said[name]; ok {
				continue
			}
			if missing[string(name)] == nil {
				missing[string(name)] = map[string]bool{}
			}
			missing[string(name)][c.Name] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		parts = append(parts, name+" for: "+strings.Join(slices.Sorted(maps.Keys(missing[name])), ","))
	}
	return fmt.Errorf("must specify %s", strings.Join(parts, "; "))
}
