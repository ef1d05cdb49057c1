package resource

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Review answers an object of a kind that is a question: it is read, shown to
// admission and validated like any other, completed by answer, and stored nowhere.
func (e *Engine) Review(ctx context.Context, t Target, body []byte, o WriteOptions, answer func(tree map[string]any) error) (*Written, error) {
	tree, err := t.decodeBody(body, o)
	if err != nil {
		return nil, err
	}
	clean(tree)
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(t.Namespace, asUnstructured(tree)); err != nil {
		return nil, err
	}
	w, err := e.reviewed(ctx, t, tree, o)
	if err != nil {
		return nil, err
	}
	// What the client said of the answer goes.
	t.Version.Strategy.Prepare(t.scope(ctx, o), w.object, nil)
	attachManaged(&w.next, &w.present)
	if err := answer(w.object.Object); err != nil {
		return nil, err
	}
	data, err := object.Encode(w.object.Object)
	return &Written{Object: data, Created: true}, err
}

// reviewed is a question that admission allows, which has changed it.
func (e *Engine) reviewed(ctx context.Context, t Target, tree map[string]any, o WriteOptions) (*Write, error) {
	w := &Write{request: request{Target: t, Options: o}, engine: e}
	w.begin(origin{})
	w.object = asUnstructured(tree)
	var err error
	if w.owners.sent, err = object.TakeManaged(tree); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	validate := func(ctx context.Context) error {
		if errs := t.Version.Strategy.Validate(t.scope(ctx, o), w.object, nil); len(errs) > 0 {
			return apierrors.NewInvalid(schema.GroupKind{Group: t.Resource.Def.Group}, "", errs) // kube-apiserver names no kind
		}
		return nil
	}
	return w, inOrder(ctx, w.manage, w.mutate, validate, w.admit)
}

// clean takes away the metadata that no client gives to a new object.
func clean(tree map[string]any) {
	meta, _ := tree["metadata"].(map[string]any)
	for _, field := range []string{"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "uid"} {
		delete(meta, field)
	}
}
