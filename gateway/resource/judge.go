package resource

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/managedfields"
)

// Sent is an object that a client sends to have something done, and that is kept
// nowhere: a Binding, an Eviction, a TokenRequest, or the options of a
// connection.
type Sent struct {
	Kind schema.GroupVersionKind
	// Object is a pointer to its Go type, whose own apiVersion and kind do not
	// matter.
	Object any
	// Connects: it is the options of a connection.
	Connects bool
	// Prepare completes and validates Object when mutating admission has changed
	// it, before validating admission sees it; nil for nothing.
	Prepare func(ctx context.Context) error
}

// Judge lets admission change and judge what a client sends to a subresource, in
// the stages that what is stored goes through. Object is what it has become
// afterwards, managedFields included. An error is the client's.
func (e *Engine) Judge(ctx context.Context, t Target, s Sent, o WriteOptions) error {
	w := &Write{Target: t, Options: o, engine: e, operation: admission.Create, sent: &s.Kind}
	if s.Connects {
		w.operation = admission.Connect
	}
	if err := w.show(s); err != nil {
		return err
	}
	return inOrder(ctx,
		w.manage,
		w.mutate,
		func(ctx context.Context) error {
			err := w.tell(s)
			if err == nil && s.Prepare != nil {
				if err = s.Prepare(ctx); err == nil {
					err = w.show(s)
				}
			}
			return err
		},
		w.admit,
		func(context.Context) error { return w.tell(s) },
	)
}

// show makes the Go object the new state. Its managedFields are those of the
// write, once they are decided.
func (w *Write) show(s Sent) error {
	if meta, ok := s.Object.(metav1.Object); ok {
		if entries := meta.GetManagedFields(); entries != nil && !w.managed.done {
			data, err := json.Marshal(entries)
			if err != nil {
				return apierrors.NewInternalError(err)
			}
			w.managed.sent = data
		}
		meta.SetManagedFields(nil)
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.Object)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	tree["apiVersion"], tree["kind"] = s.Kind.ToAPIVersionAndKind()
	w.object = &unstructured.Unstructured{Object: tree} // options have no metadata
	return nil
}

// tell makes the Go object what the new state is.
func (w *Write) tell(s Sent) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.object.Object, s.Object); err != nil {
		return apierrors.NewInternalError(err)
	}
	meta, ok := s.Object.(metav1.Object)
	if !ok || w.managed.next == nil {
		return nil
	}
	var entries []metav1.ManagedFieldsEntry
	if err := json.Unmarshal(w.managed.next, &entries); err != nil {
		return apierrors.NewInternalError(err)
	}
	meta.SetManagedFields(entries)
	return nil
}

// body is the kind of what was sent, nil where it has no metadata.
func (w *Write) body() *crd.Version {
	if s := w.Version.Subresources[w.Subresource]; s != nil && s.Body != nil {
		return s.Body.Versions[0]
	}
	return nil
}

// ownership is the field management of what admission sees, nil where there is
// none.
func (w *Write) ownership() *managedfields.Kind {
	switch {
	case w.sent != nil:
		return w.Resource.Bodies[catalog.Part{Version: w.Version.Name, Subresource: w.Subresource}]
	case w.scales() != nil:
		return nil
	}
	return w.Resource.Owners
}

// manageSent decides the managedFields of what is kept nowhere.
func (w *Write) manageSent(ctx context.Context) error {
	owners := w.ownership()
	if owners == nil {
		return nil
	}
	c := w.fieldChange(w.object.Object)
	c.Version = w.sent.Version
	out, err := owners.Update(ctx, c)
	if err != nil {
		return err
	}
	w.decided(out)
	return w.checkSent()
}
