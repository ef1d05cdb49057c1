package storageobject

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Mutator gives the finalizers to what is created.
type Mutator struct{}

var _ admission.Mutator = Mutator{}

// Name implements [admission.Plugin].
func (Mutator) Name() string { return order.StorageObjectInUseProtection }

// Mutate implements [admission.Mutator].
func (Mutator) Mutate(ctx context.Context, a admission.Attributes) error {
	if a.GetOperation() != admission.Create || a.GetSubresource() != "" {
		return nil
	}
	k, ok := protected[a.GetResource().GroupResource()]
	if !ok {
		return nil
	}
	tree, err := a.GetObjectAt(ctx, a.GetResource().Version)
	if err != nil {
		return err
	}
	obj := unstructured.Unstructured{Object: object.Clone(tree)}
	if has := obj.GetFinalizers(); !slices.Contains(has, k.finalizer) {
		obj.SetFinalizers(append(has, k.finalizer))
		return a.Replace(ctx, a.GetResource().Version, obj.Object)
	}
	return nil
}
