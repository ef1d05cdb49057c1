package resource

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// Delete deletes an object, or marks it deleted while something holds it up.
//
// It works on the stored form: what is not in metadata stays as it is stored,
// at the version it is stored at. A client's request at a version has to be
// answerable at that version, as in kube-apiserver, so a converter that fails
// refuses it before anything is written. The gateway's own deletions (of
// namespaces, of definitions) want no reply, and never convert.
func (e *Engine) Delete(ctx context.Context, t Target, o *metav1.DeleteOptions, w WriteOptions) (*Written, error) {
	if errs := validation.ValidateDeleteOptions(o); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	one := &Write{Target: t, Options: w, engine: e, source: deleting{o}, operation: OperationDelete}
	return one.run(ctx)
}

// deleting is the source of a state that is being deleted.
type deleting struct{ options *metav1.DeleteOptions }

// decode implements [source]; the options were decoded at the edge.
func (deleting) decode(*Write) error { return nil }

// change implements [source]: it decides whether anything holds the deletion
// up, and marks the object if so.
func (d deleting) change(ctx context.Context, w *Write) error {
	obj := w.object
	if err := w.deletePreconditions(d.options, obj, w.from.Entry); err != nil {
		return err
	}
	if h := w.Resource.Def.Hooks; h != nil {
		if err := h.BeforeDelete(ctx, obj.Object); err != nil {
			return err
		}
	}
	if !heldUp(w.Resource.Def, obj) {
		w.ending = removes
		return nil
	}
	if obj.GetDeletionTimestamp() == nil {
		obj.SetDeletionTimestamp(now())
		if g := obj.GetGeneration(); g > 0 {
			obj.SetGeneration(g + 1)
		}
	}
	if obj.GetDeletionGracePeriodSeconds() == nil {
		zero := int64(0)
		obj.SetDeletionGracePeriodSeconds(&zero)
	}
	return nil
}

// now is the deletion timestamp as the API writes it.
func now() *metav1.Time {
	n := metav1.Now().Rfc3339Copy()
	return &n
}

func (t Target) deletePreconditions(o *metav1.DeleteOptions, obj *unstructured.Unstructured, entry *catalog.Entry) error {
	p := o.Preconditions
	if p == nil {
		return nil
	}
	// Named by the kind, as kube-apiserver does it here.
	gr := schema.GroupResource{Group: t.Resource.Def.Group, Resource: t.Resource.Def.Kind}
	if p.UID != nil && *p.UID != obj.GetUID() {
		return apierrors.NewConflict(gr, t.Name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, obj.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != fmt.Sprint(entry.Revision) {
		return apierrors.NewConflict(gr, t.Name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%d). The object might have been modified", *p.ResourceVersion, entry.Revision))
	}
	return nil
}

// DeleteCollection deletes every object that the list options select and
// returns what it deleted, as a list at the revision that was read.
func (e *Engine) DeleteCollection(ctx context.Context, t Target, list *internalversion.ListOptions, o *metav1.DeleteOptions, w WriteOptions, form Form) (*List, error) {
	// All of them are part of the reply; if it cannot be made, nothing happens.
	l, err := e.List(ctx, t, list, form)
	if err != nil {
		return nil, err
	}
	for _, entry := range l.entries {
		meta, err := t.Resource.Metadata(entry)
		if err != nil {
			return nil, err
		}
		one := t
		one.Name, _ = object.String(object.Field(meta, "name"))
		if ns, ok := object.String(object.Field(meta, "namespace")); ok {
			one.Namespace = ns
		}
		if _, err := e.Delete(ctx, one, o.DeepCopy(), w); err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	return l, nil
}
