package storageobject

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Mutator gives the finalizers to what is created.
type Mutator struct{}

var _ resource.Mutator = Mutator{}

// Mutate implements [resource.Mutator].
func (Mutator) Mutate(ctx context.Context, w *resource.Write) error {
	if w.Operation() != resource.OperationCreate || w.Subresource != "" {
		return nil
	}
	k, ok := protected[w.Resource.GroupResource()]
	if !ok {
		return nil
	}
	tree, err := w.NewAt(ctx, w.Version.Name)
	if err != nil {
		return err
	}
	obj := unstructured.Unstructured{Object: object.Clone(tree)}
	if has := obj.GetFinalizers(); !slices.Contains(has, k.finalizer) {
		obj.SetFinalizers(append(has, k.finalizer))
		return w.Replace(ctx, w.Version.Name, obj.Object)
	}
	return nil
}
