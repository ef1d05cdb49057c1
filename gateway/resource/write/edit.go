package write

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// What a request does beneath what admission was asked about: it is asked no
// more, and who owns which field stays as it is.

// Edit makes a change, again and again while others write the object. Admission is
// not asked.
func (e *Writer) Edit(ctx context.Context, t resource.Target, change resource.Edit, o resource.WriteOptions) (*resource.Written, error) {
	o.DryRun = change.DryRun
	return e.update(ctx, request{Target: t, Options: o, unasked: true}, editing{change})
}

// Remove is [Writer.Delete] of an object that may says yes to, which is called with
// each stored state that the deletion is tried on. Admission is not asked.
func (e *Writer) Remove(ctx context.Context, t resource.Target, o *metav1.DeleteOptions, may func(obj *unstructured.Unstructured) error, w resource.WriteOptions) (*resource.Written, error) {
	return e.remove(ctx, request{Target: t, Options: w, unasked: true}, deleting{options: o, may: may})
}

// editing is the source of a state that is the present one, edited.
type editing struct{ resource.Edit }

// decode implements [source]; there is no body.
func (editing) decode(*request) error { return nil }

// size implements [source].
func (editing) size() int { return 0 }

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
func meant(p metav1.Preconditions, t resource.Target, old *unstructured.Unstructured) error {
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
