package write

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
)

// Review answers an object of a kind that is a question: it is read, shown to
// admission and validated like any other, completed by answer, and stored nowhere.
func (e *Writer) Review(ctx context.Context, t resource.Target, body []byte, o resource.WriteOptions, answer func(tree map[string]any) error) (*resource.Written, error) {
	tree, _, err := decodeBody(t, body, o)
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
	t.Version.Strategy.Prepare(scope(ctx, t, o), w.object, nil)
	attachManaged(&w.next, &w.present)
	if err := answer(w.object.Object); err != nil {
		return nil, err
	}
	data, err := object.Encode(w.object.Object)
	if err == nil && o.Room != nil {
		err = o.Room.Room(ctx, len(data))
	}
	if err != nil {
		return nil, err
	}
	return &resource.Written{Object: data, Created: true}, nil
}

// reviewed is a question that admission allows, which has changed it.
func (e *Writer) reviewed(ctx context.Context, t resource.Target, tree map[string]any, o resource.WriteOptions) (*Write, error) {
	w := &Write{request: request{Target: t, Options: o}, writer: e}
	w.begin(read.Origin{})
	w.object = asUnstructured(tree)
	var err error
	if w.owners.sent, err = object.TakeManaged(tree); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	validate := func(ctx context.Context) error {
		verdict := t.Version.Strategy.Validate(scope(ctx, t, o), w.object, nil)
		if errs := verdict.Errors; len(errs) > 0 {
			kind := schema.GroupKind{Group: t.Resource.Def.Group} // kube-apiserver names no kind
			return notValid(kind, "", errs, verdict.Unfinished)
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
