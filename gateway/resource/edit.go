package resource

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/wasmgate/wasmgate/crd/object"
)

// What a request does beneath what admission was asked about: it is asked no
// more, and who owns which field stays as it is.

// Edit is a change of an object that exists.
type Edit struct {
	// Meant are what else than the name the object has to have.
	Meant  metav1.Preconditions
	DryRun bool
	// Change changes obj, a state of the object at the storage version without its
	// managedFields. It is called for each state that the edit is tried on, of
	// which the last counts. Its error is the client's, unless there is a newer
	// state to try.
	Change func(obj *unstructured.Unstructured) error
}

// Edit makes a change, again and again while others write the object. Admission is
// not asked.
func (e *Engine) Edit(ctx context.Context, t Target, change Edit, o WriteOptions) (*Written, error) {
	o.DryRun, o.unasked = change.DryRun, true
	return e.update(ctx, t, editing{change}, o, false)
}

// Remove is [Engine.Delete] of an object that may says yes to, which is called with
// each stored state that the deletion is tried on. Admission is not asked.
func (e *Engine) Remove(ctx context.Context, t Target, o *metav1.DeleteOptions, may func(obj *unstructured.Unstructured) error, w WriteOptions) (*Written, error) {
	w.unasked = true
	return e.remove(ctx, t, deleting{options: o, may: may}, w)
}

// editing is the source of a state that is the present one, edited.
type editing struct{ Edit }

// decode implements [source]; there is no body.
func (editing) decode(*request) error { return nil }

// change implements [source].
func (e editing) change(_ context.Context, r *request, from *present) (n next, err error) {
	if err := meant(e.Meant, r.Target, from.object); err != nil {
		return n, err
	}
	n.object = asUnstructured(object.Clone(from.object.Object))
	n.owners = owned{next: from.managed, decided: true}
	return n, e.Change(n.object)
}

// meant refuses another object of the name than the one that is meant, and
// another state of it, in the words of kube-apiserver's store.
func meant(p metav1.Preconditions, t Target, old *unstructured.Unstructured) error {
	failed := func(field, want, have string) error {
		why := fmt.Sprintf("Precondition failed: %s in precondition: %v, %s in object meta: %v", field, want, field, have)
		return apierrors.NewConflict(t.GroupResource(), t.Name, apistorage.NewInvalidObjError(t.Resource.Key(t.Namespace, t.Name), why))
	}
	switch {
	case p.UID != nil && *p.UID != old.GetUID():
		return failed("UID", string(*p.UID), string(old.GetUID()))
	case p.ResourceVersion != nil && *p.ResourceVersion != old.GetResourceVersion():
		return failed("ResourceVersion", *p.ResourceVersion, old.GetResourceVersion())
	}
	return nil
}
