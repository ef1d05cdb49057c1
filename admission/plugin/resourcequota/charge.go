package resourcequota

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	library "k8s.io/apiserver/pkg/quota/v1"
)

// Charge is what the quotas of a namespace are after a write, in the same order;
// a quota that the write uses nothing of is as it was. What is limited has to be covered
// by one of them. The states that a has are
// what [Typed] made of them. The error, of a write that a quota refuses, is the
// client's.
func Charge(quotas []corev1.ResourceQuota, limited Limited, a admission.Attributes) ([]corev1.ResourceQuota, error) {
	of := Of(a.GetResource().GroupResource())
	if of == nil {
		return quotas, nil
	}
	after, err := resourcequota.CheckRequest(quotas, a, of, limited)
	if lacks := (uncovered)(nil); errors.As(err, &lacks) {
		err = admission.NewForbidden(a, lacks)
	}
	return after, err
}

// Equal tells that two lists hold the same quantities.
func Equal(a, b corev1.ResourceList) bool { return library.Equals(a, b) }

// Typed is an object in the form in which objects of its kind are counted. The
// tree is only read, and shared.
func Typed(gr schema.GroupResource, tree map[string]any) (runtime.Object, error) {
	var out runtime.Object
	switch gr {
	case Pods:
		out = &corev1.Pod{}
	case Services:
		out = &corev1.Service{}
	case Claims:
		out = &corev1.PersistentVolumeClaim{}
	case Devices:
		out = &resourcev1.ResourceClaim{}
	default:
		return &unstructured.Unstructured{Object: tree}, nil
	}
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(tree, out)
}
