package builtin

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// preparePod gives a new pod the status that every pod begins with.
func preparePod(_ context.Context, obj map[string]any) {
	class := corev1.PodQOSBestEffort
	if pod := new(corev1.Pod); toTyped(obj, pod) == nil {
		class = qosClass(pod)
	}
	obj["status"] = map[string]any{"phase": string(corev1.PodPending), "qosClass": string(class)}
}

// qosClass tells how well a pod says what it needs: fully, in part, or not.
func qosClass(p *corev1.Pod) corev1.PodQOSClass {
	guaranteed, none := true, true
	sum := map[corev1.ResourceName]resource.Quantity{}
	limits := map[corev1.ResourceName]resource.Quantity{}
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		bounded := 0
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			for from, into := range map[*corev1.ResourceList]map[corev1.ResourceName]resource.Quantity{&c.Resources.Requests: sum, &c.Resources.Limits: limits} {
				if q, ok := (*from)[name]; ok && !q.IsZero() {
					none = false
					total := into[name]
					total.Add(q)
					into[name] = total
				}
			}
			if q, ok := c.Resources.Limits[name]; ok && !q.IsZero() {
				bounded++
			}
		}
		guaranteed = guaranteed && bounded == 2
	}
	switch {
	case none:
		return corev1.PodQOSBestEffort
	case guaranteed && same(sum, limits):
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

func same(a, b map[corev1.ResourceName]resource.Quantity) bool {
	for name, q := range a {
		if other, ok := b[name]; !ok || q.Cmp(other) != 0 {
			return false
		}
	}
	return len(a) == len(b)
}
