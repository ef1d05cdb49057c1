package write

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Update replaces an object (PUT), or creates it where the kind allows that.
func (e *Writer) Update(ctx context.Context, t resource.Target, body []byte, o resource.WriteOptions) (*resource.Written, error) {
	if scales(t) != nil {
		s, err := putScale(body, o)
		if err != nil {
			return nil, err
		}
		return e.scale(ctx, t, s, o)
	}
	return e.update(ctx, request{Target: t, Options: o, put: true}, &whole{body: body})
}

// update is every change to an object that exists.
func (e *Writer) update(ctx context.Context, r request, s source) (out *resource.Written, err error) {
	if r.strategy, err = updateStrategy(r.Target); err != nil {
		return nil, err
	}
	w := &Write{request: r, writer: e, source: s}
	if err := w.decode(ctx); err != nil { // what cannot be read is refused whether the object exists or not
		return nil, err
	}
	if r.put && r.Subresource == "" && r.Resource.Def.CreateOnUpdate {
		w.exists = mayExist
	}
	return w.run(ctx)
}

func updateStrategy(t resource.Target) (crd.Strategy, error) {
	if t.Subresource == "" {
		return t.Version.Strategy, nil
	}
	s := t.Version.Subresources[t.Subresource]
	if s == nil || s.Update == nil {
		return nil, apierrors.NewNotFound(t.GroupResource(), t.Name)
	}
	return s.Update, nil
}

// prepareUpdate restores what no client writes, and asks the kind whether the
// change is valid.
func prepareUpdate(ctx context.Context, r *request, obj, old *unstructured.Unstructured, mistakes field.ErrorList) error {
	unstructured.RemoveNestedField(obj.Object, "metadata", "selfLink")
	if s, ok := r.strategy.(acceptsAtOnce); ok && len(mistakes) == 0 && s.Accept(ctx, r.Namespace, obj, old) {
		return nil
	}
	return beforeUpdate(ctx, r, obj, old, mistakes)
}

// released reports whether obj is being deleted and has nothing left to wait for.
func released(def *crd.Definition, obj *unstructured.Unstructured) bool {
	return obj.GetDeletionTimestamp() != nil && !takesTime(obj) && !heldUp(def, obj)
}

// heldUp tells that something has to be done before a deletion is complete.
func heldUp(def *crd.Definition, obj *unstructured.Unstructured) bool {
	return len(obj.GetFinalizers()) > 0 || stillFinalizing(def, obj.Object)
}

// precondition checks uid and resourceVersion of the new state.
func precondition(r *request, obj *unstructured.Unstructured, from *present) error {
	old, rev := from.object, from.entry.Revision
	gr := r.GroupResource()
	// Of a patch the strategy refuses another uid, as an immutable field.
	if uid := obj.GetUID(); uid != "" && uid != old.GetUID() && r.put {
		return wrongUID(r.Target, uid, old.GetUID())
	}
	rv := obj.GetResourceVersion()
	if rv == "" || rv == "0" {
		if r.Resource.Def.ConditionalUpdate {
			return apierrors.NewInvalid(schema.GroupKind{Group: gr.Group, Kind: gr.Resource}, r.Name, field.ErrorList{
				field.Invalid(field.NewPath("metadata", resource.RevisionField), uint64(0), "must be specified for an update"),
			})
		}
		obj.SetResourceVersion(strconv.FormatInt(rev, 10))
		return nil
	}
	if _, err := strconv.ParseUint(rv, 10, 63); err != nil {
		return apierrors.NewInvalid(r.Resource.Def.GroupKind(), r.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", resource.RevisionField), rv, err.Error()),
		})
	}
	if rv != strconv.FormatInt(rev, 10) {
		return apierrors.NewConflict(gr, r.Name, resource.ErrModified)
	}
	return nil
}

// wrongUID is the refusal of a write that is about another object of the same
// name, in kube-apiserver's words.
func wrongUID(t resource.Target, want, have types.UID) error {
	why := fmt.Sprintf("Precondition failed: UID in precondition: %v, UID in object meta: %v", want, have)
	return apierrors.NewConflict(t.GroupResource(), t.Name, apistorage.NewInvalidObjError("/"+t.Resource.Def.KeyPrefix+"/"+catalog.JoinKey(t.Namespace, t.Name), why))
}

func stillFinalizing(def *crd.Definition, obj map[string]any) bool {
	return def.Hooks != nil && def.Hooks.StillFinalizing(obj)
}
