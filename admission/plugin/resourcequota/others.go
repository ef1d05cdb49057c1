package resourcequota

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var serviceKind = kind[*corev1.Service]{gr: Services, usage: serviceUsage, counts: func(name corev1.ResourceName) bool {
	return slices.Contains([]corev1.ResourceName{countOf(Services), corev1.ResourceServices, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers}, name)
}}

// serviceUsage is what a service uses. Node ports that are to be given out count
// like those that were.
func serviceUsage(s *corev1.Service) corev1.ResourceList {
	ports, balancers := 0, 0
	switch s.Spec.Type {
	case corev1.ServiceTypeNodePort:
		ports = len(s.Spec.Ports)
	case corev1.ServiceTypeLoadBalancer:
		balancers = 1
		for _, p := range s.Spec.Ports {
			if given := s.Spec.AllocateLoadBalancerNodePorts; given == nil || *given || p.NodePort != 0 {
				ports++
			}
		}
	}
	return corev1.ResourceList{
		countOf(Services): number(1), corev1.ResourceServices: number(1),
		corev1.ResourceServicesNodePorts: number(ports), corev1.ResourceServicesLoadBalancers: number(balancers),
	}
}

var claimKind = kind[*corev1.PersistentVolumeClaim]{gr: Claims, counts: claimResource, usage: claimUsage, selected: func(s corev1.ScopedResourceSelectorRequirement, o runtime.Object) (bool, error) {
	c, err := one[*corev1.PersistentVolumeClaim](o)
	if err != nil {
		return false, err
	}
	return claimScopes(c).selected(newSelector(s))
}}

// ofStorageClass goes between a storage class and a resource of its claims.
const ofStorageClass = ".storageclass.storage.k8s.io/"

func claimResource(name corev1.ResourceName) bool {
	if class, of, ok := strings.Cut(string(name), ofStorageClass); ok && class != "" {
		name = corev1.ResourceName(of)
	} else if name == countOf(Claims) {
		return true
	}
	return name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
}

func claimUsage(c *corev1.PersistentVolumeClaim) corev1.ResourceList {
	out := corev1.ResourceList{countOf(Claims): number(1), corev1.ResourcePersistentVolumeClaims: number(1)}
	if q, ok := c.Spec.Resources.Requests[corev1.ResourceStorage]; ok {
		if given, ok := c.Status.AllocatedResources[corev1.ResourceStorage]; ok && given.Cmp(q) > 0 {
			q = given
		}
		whole := q.DeepCopy()
		whole.RoundUp(0)
		out[corev1.ResourceRequestsStorage] = whole
	}
	if class := storageClass(c); class != "" {
		for _, name := range []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage} {
			if q, ok := out[name]; ok {
				out[corev1.ResourceName(class+ofStorageClass)+name] = q
			}
		}
	}
	return out
}

func storageClass(c *corev1.PersistentVolumeClaim) string {
	if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}
