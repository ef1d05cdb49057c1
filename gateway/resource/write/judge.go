package write

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
)

// Judge lets admission change and judge what a client sends to a subresource, in
// the stages that what is stored goes through. Object is what it has become
// afterwards, managedFields included. An error is the client's.
func (e *Writer) Judge(ctx context.Context, t resource.Target, s resource.Sent, o resource.WriteOptions) error {
	w := &Write{request: request{Target: t, Options: o, sent: &s.Kind}, writer: e}
	if w.begin(read.Origin{}); s.Connects {
		w.operation = admission.Connect
	}
	if err := show(s, &w.next); err != nil {
		return err
	}
	return inOrder(ctx,
		w.manage,
		w.mutate,
		func(ctx context.Context) error {
			err := tell(s, &w.next)
			if err == nil && s.Prepare != nil {
				if err = s.Prepare(ctx); err == nil {
					err = show(s, &w.next)
				}
			}
			return err
		},
		w.admit,
		func(context.Context) error { return tell(s, &w.next) },
	)
}

// show makes the Go object the new state. Its managedFields are those of the
// write, once they are decided.
func show(s resource.Sent, n *next) error {
	if meta, ok := s.Object.(metav1.Object); ok {
		if entries := meta.GetManagedFields(); entries != nil && !n.owners.decided {
			data, err := json.Marshal(entries)
			if err != nil {
				return apierrors.NewInternalError(err)
			}
			n.owners.sent = data
		}
		meta.SetManagedFields(nil)
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.Object)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	tree["apiVersion"], tree["kind"] = s.Kind.ToAPIVersionAndKind()
	n.object = &unstructured.Unstructured{Object: tree} // options have no metadata
	return nil
}

// tell makes the Go object what the new state is.
func tell(s resource.Sent, n *next) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(n.object.Object, s.Object); err != nil {
		return apierrors.NewInternalError(err)
	}
	meta, ok := s.Object.(metav1.Object)
	if !ok || n.owners.next == nil {
		return nil
	}
	var entries []metav1.ManagedFieldsEntry
	if err := json.Unmarshal(n.owners.next, &entries); err != nil {
		return apierrors.NewInternalError(err)
	}
	meta.SetManagedFields(entries)
	return nil
}

// body is the kind of what was sent, nil where it has no metadata.
func (r *request) body() *crd.Version {
	if s := r.Version.Subresources[r.Subresource]; s != nil && s.Body != nil {
		return s.Body.Versions[0]
	}
	return nil
}
