package signingrequest

import (
	"context"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

var requests = schema.GroupResource{Group: certificatesv1.GroupName, Resource: "certificatesigningrequests"}

// read is a request as a Go type.
func read(obj *unstructured.Unstructured) (*certificatesv1.CertificateSigningRequest, error) {
	r := &certificatesv1.CertificateSigningRequest{}
	return r, runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, r)
}

// get is the request of a name and the object that says it, both nil for none.
func get(ctx context.Context, objects client.Getter, name string) (*unstructured.Unstructured, *certificatesv1.CertificateSigningRequest, error) {
	obj, err := objects.Get(ctx, requests, "", name)
	if err != nil {
		return nil, nil, gvr.IgnoreNotFound(err)
	}
	r, err := read(obj)
	return obj, r, err
}

// condition is the condition of a type that is true, nil for none.
func condition(r *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType) *certificatesv1.CertificateSigningRequestCondition {
	for i, c := range r.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return &r.Status.Conditions[i]
		}
	}
	return nil
}
