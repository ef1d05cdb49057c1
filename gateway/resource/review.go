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
	object.Detach(tree) // nobody owns what is not kept
	obj := asUnstructured(tree)
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(t.Namespace, obj); err != nil {
		return nil, err
	}
	ctx = t.scope(ctx, o)
	t.Version.Strategy.PrepareForCreate(ctx, obj)
	if errs := t.Version.Strategy.Validate(ctx, obj); len(errs) > 0 {
		return nil, apierrors.NewInvalid(t.Resource.Def.GroupKind(), obj.GetName(), errs)
	}
	if err := answer(tree); err != nil {
		return nil, err
	}
	data, err := object.Encode(tree)
	return &Written{Object: data, Created: true}, err
}
