package extend

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/wasmgate/wasmgate/crd/formats"
	"github.com/wasmgate/wasmgate/crd/object"
)

// requestTotals fills in what a pod that says some of its resources does not say: it
// requests what its containers request, and else what it is limited to; of huge pages,
// which cannot be shared, it is limited to what its containers are.
func requestTotals(obj map[string]any) {
	pod := new(corev1.Pod)
	if object.ToTyped(obj, pod) != nil {
		return // the schema says why
	}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			list[i].Resources.Requests = withDefaults(list[i].Resources.Requests, list[i].Resources.Limits)
		}
	}
	all := pod.Spec.Resources
	if len(all.Limits)+len(all.Requests) == 0 {
		return
	}
	huge := func(name corev1.ResourceName) bool {
		return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
	}
	limits := formats.ContainerTotals(&pod.Spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits })
	maps.DeleteFunc(limits, func(name corev1.ResourceName, _ resource.Quantity) bool {
		_, requested := all.Requests[name]
		return !huge(name) || requested || !resourcehelper.IsSupportedPodLevelResource(name)
	})
	all.Limits = withDefaults(all.Limits, limits)
	spec := object.Child(obj, "spec", "resources")
	keepTexts(spec, "limits", all.Limits)
	if len(all.Limits) == 0 {
		return
	}
	requests := formats.ContainerTotals(&pod.Spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests })
	maps.DeleteFunc(requests, func(name corev1.ResourceName, _ resource.Quantity) bool {
		return huge(name) || !resourcehelper.IsSupportedPodLevelResource(name)
	})
	all.Requests = withDefaults(all.Requests, requests)
	more := maps.Clone(all.Limits)
	maps.DeleteFunc(more, func(name corev1.ResourceName, _ resource.Quantity) bool {
		return !resourcehelper.IsSupportedPodLevelResource(name)
	})
	keepTexts(spec, "requests", withDefaults(all.Requests, more))
}

// withDefaults are resources, with those of others that they lack.
func withDefaults(list, others corev1.ResourceList) corev1.ResourceList {
	out := maps.Clone(others)
	if out == nil {
		out = corev1.ResourceList{}
	}
	maps.Copy(out, list)
	return out
}

// keepTexts writes the resources that a tree lacks into it.
func keepTexts(tree map[string]any, name string, list corev1.ResourceList) {
	for of, q := range list {
		if into := object.Ensure(tree, name); into[string(of)] == nil {
			into[string(of)] = q.String()
		}
	}
}
