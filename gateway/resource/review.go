package resource

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Review answers an object of a kind that is a question: it is read and
// validated like any other, completed by answer, and stored nowhere.
func (e *Engine) Review(ctx context.Context, t Target, body []byte, o WriteOptions, answer func(tree map[string]any) error) (*Written, error) {
	tree, err := t.decodeBody(body, o)
	if err != nil {
		return nil, err
	}
	obj := asUnstructured(tree)
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(t.Namespace, obj); err != nil {
		return nil, err
	}
	ctx = t.scope(ctx, o)
	t.Version.Strategy.PrepareForCreate(ctx, obj)
	name := obj.GetName()
	obj.SetName("question") // which questions need not have
	errs := t.Version.Strategy.Validate(ctx, obj)
	if obj.SetName(name); name == "" {
		delete(tree["metadata"].(map[string]any), "name")
	}
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(t.Resource.Def.GVK(t.Version.Name).GroupKind(), name, errs)
	}
	if err := answer(tree); err != nil {
		return nil, err
	}
	data, err := object.Encode(tree)
	return &Written{Object: data, Created: true}, err
}
