package resourcequota

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

var deviceKind = kind[*resourcev1.ResourceClaim]{gr: Devices, usage: deviceUsage, counts: func(name corev1.ResourceName) bool {
	return name == countOf(Devices) || strings.HasSuffix(string(name), corev1.ResourceClaimsPerClass)
}}

// deviceUsage is what a claim uses: the most devices of each class that it may
// be given.
func deviceUsage(c *resourcev1.ResourceClaim) corev1.ResourceList {
	out := corev1.ResourceList{countOf(Devices): number(1)}
	for _, r := range c.Spec.Devices.Requests {
		most := map[string]int64{} // of a request with alternatives one is met
		if e := r.Exactly; e != nil {
			most[e.DeviceClassName] = devices(e.AllocationMode, e.Count)
		}
		for _, s := range r.FirstAvailable {
			most[s.DeviceClassName] = max(most[s.DeviceClassName], devices(s.AllocationMode, s.Count))
		}
		for class, n := range most {
			name := corev1.ResourceName(class + corev1.ResourceClaimsPerClass)
			sum := out[name]
			sum.Add(number(int(n)))
			out[name] = sum
		}
	}
	return out
}

// devices is how many a request may be given.
func devices(mode resourcev1.DeviceAllocationMode, count int64) int64 {
	switch mode {
	case resourcev1.DeviceAllocationModeExactCount:
		return count
	case resourcev1.DeviceAllocationModeAll:
		return resourcev1.AllocationResultsMaxSize
	}
	return 0
}
