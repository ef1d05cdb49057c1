package plugin

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
)

// InUse are the finalizers of the kinds whose objects outlive what uses them.
var InUse = map[schema.GroupResource]string{
	{Resource: "persistentvolumeclaims"}:                           "kubernetes.io/pvc-protection",
	{Resource: "persistentvolumes"}:                                "kubernetes.io/pv-protection",
	{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}: "kubernetes.io/vac-protection",
}

// StorageObjectInUseProtection gives them to what is created.
type StorageObjectInUseProtection struct{}

// Name implements [admission.Plugin].
func (StorageObjectInUseProtection) Name() string { return order.StorageObjectInUseProtection }

// Edits implements [admission.Editor].
func (StorageObjectInUseProtection) Edits(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return o == admission.Create && subresource == "" && InUse[gr] != ""
}

// Edit implements [admission.Editor].
func (StorageObjectInUseProtection) Edit(_ context.Context, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	obj, finalizer := unstructured.Unstructured{Object: tree}, InUse[a.GetResource().GroupResource()]
	has := obj.GetFinalizers()
	if slices.Contains(has, finalizer) {
		return false, nil
	}
	obj.SetFinalizers(append(has, finalizer))
	return true, nil
}
