package resource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/storage"
)

// change computes the new object from the current one, both at the request's
// version. old belongs to the callee and may become part of the result.
type change func(old map[string]any) (map[string]any, error)

// maxAttempts bounds how often a write without a resourceVersion is tried
// again against other writers.
const maxAttempts = 100

// Update replaces an object (PUT).
func (e *Engine) Update(ctx context.Context, t Target, body []byte, o WriteOptions) (*Written, error) {
	tree, err := t.decodeBody(body, o)
	if err != nil {
		return nil, err
	}
	return e.updateTree(ctx, t, tree, o)
}

func (e *Engine) updateTree(ctx context.Context, t Target, tree map[string]any, o WriteOptions) (*Written, error) {
	obj := asUnstructured(tree)
	switch name := obj.GetName(); name {
	case t.Name:
	case "":
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", t.Name))
	default:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, t.Name))
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(t.Namespace, obj); err != nil {
		return nil, err
	}
	w, err := e.write(ctx, t, o, true, func(map[string]any) (map[string]any, error) {
		return obj.DeepCopy().Object, nil
	})
	if apierrors.IsNotFound(err) && t.Subresource == "" && t.Version.Strategy.AllowCreateOnUpdate(ctx) {
		return e.createTree(ctx, t, tree, o)
	}
	return w, err
}

// write is the loop of every change to an existing object: read, change,
// validate, convert, compare and set. put tells a PUT, which has to name the
// revision it replaces.
func (e *Engine) write(ctx context.Context, t Target, o WriteOptions, put bool, f change) (*Written, error) {
	end, err := t.Resource.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	strategy, err := t.updateStrategy()
	if err != nil {
		return nil, err
	}
	entry, err := e.current(ctx, t, false)
	live := false
	for attempt := 0; ; attempt++ {
		if err != nil {
			return nil, err
		}
		if attempt == maxAttempts {
			return nil, apierrors.NewConflict(t.Resource.GroupResource(), t.Name, errModified)
		}
		w, next, werr := e.writeOnce(ctx, t, o, put, strategy, entry, f)
		switch {
		case next != nil: // somebody else wrote first: start from their state
			entry, live = next, true
		case werr != nil && !live && retryLive(werr):
			// The cache may be behind: only the store's own state counts.
			stale := entry.Revision
			if entry, err = e.current(ctx, t, true); err == nil && entry.Revision == stale {
				return nil, werr
			}
			live = true
		default:
			return w, werr
		}
	}
}

// retryLive tells which refusals may come from a state that is no longer
// current.
func retryLive(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err)
}

func (t Target) updateStrategy() (rest.RESTUpdateStrategy, error) {
	if t.Subresource == "" {
		return t.Version.Strategy, nil
	}
	s := t.Version.Subresources[t.Subresource]
	if s == nil || s.Update == nil {
		return nil, apierrors.NewNotFound(t.Resource.GroupResource(), t.Name)
	}
	return s.Update, nil
}

// writeOnce tries one write against the state in entry. When the state turns
// out to be another it returns that state as next.
func (e *Engine) writeOnce(ctx context.Context, t Target, o WriteOptions, put bool, strategy rest.RESTUpdateStrategy, entry *Entry, f change) (w *Written, next *Entry, err error) {
	data, err := t.Resource.View(ctx, entry, t.Version.Name)
	if err != nil {
		return nil, nil, err
	}
	oldTree, _, err := object.Parse(data)
	if err != nil {
		return nil, nil, t.Resource.unreadable(entry, err)
	}
	mine, _, err := object.Parse(data)
	if err != nil {
		return nil, nil, t.Resource.unreadable(entry, err)
	}
	newTree, err := f(mine)
	if err != nil {
		return nil, nil, err
	}
	old, obj := asUnstructured(oldTree), asUnstructured(newTree)
	if err := t.precondition(ctx, put, strategy, obj, old, entry.Revision); err != nil {
		return nil, nil, err
	}
	keepSystemMetadata(obj, old)
	if err := rest.BeforeUpdate(strategy, t.scope(ctx, o), obj, old); err != nil {
		return nil, nil, err
	}
	if gone(t.Resource.Def, obj) {
		return e.finishDeletion(ctx, t, o, obj, entry)
	}
	return e.commit(ctx, t, o, obj, entry)
}

// precondition checks uid and resourceVersion of the new state.
func (t Target) precondition(ctx context.Context, put bool, strategy rest.RESTUpdateStrategy, obj, old *unstructured.Unstructured, rev int64) error {
	gr := t.Resource.GroupResource()
	if uid := obj.GetUID(); uid != "" && uid != old.GetUID() {
		return apierrors.NewConflict(gr, t.Name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", uid, old.GetUID())) //nolint:staticcheck // the API's wording
	}
	rv := obj.GetResourceVersion()
	if rv == "" || rv == "0" {
		if put && !strategy.AllowUnconditionalUpdate(ctx) {
			return apierrors.NewInvalid(t.Resource.Def.GVK(t.Version.Name).GroupKind(), t.Name, field.ErrorList{
				field.Invalid(field.NewPath("metadata", revisionField), uint64(0), "must be specified for an update"),
			})
		}
		return nil
	}
	if _, err := strconv.ParseUint(rv, 10, 63); err != nil {
		return apierrors.NewInvalid(t.Resource.Def.GVK(t.Version.Name).GroupKind(), t.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", revisionField), rv, err.Error()),
		})
	}
	if rv != strconv.FormatInt(rev, 10) {
		return apierrors.NewConflict(gr, t.Name, errModified)
	}
	return nil
}

// keepSystemMetadata restores what no client writes.
func keepSystemMetadata(obj, old *unstructured.Unstructured) {
	unstructured.RemoveNestedField(obj.Object, "metadata", "selfLink")
	meta := obj.Object["metadata"].(map[string]any)
	oldMeta := old.Object["metadata"].(map[string]any)
	if m, ok := oldMeta["managedFields"]; ok {
		meta["managedFields"] = m
	} else {
		delete(meta, "managedFields")
	}
	if oldMeta["deletionTimestamp"] == nil {
		delete(meta, "deletionTimestamp")
		delete(meta, "deletionGracePeriodSeconds")
	}
}

// gone tells that a deletion has nothing left to wait for.
func gone(def *crd.Definition, obj *unstructured.Unstructured) bool {
	return obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 && !stillFinalizing(def, obj.Object)
}

// finalizing is implemented by hooks of kinds that have finalizers of their
// own besides metadata.finalizers (a Namespace's spec.finalizers).
type finalizing interface {
	StillFinalizing(obj map[string]any) bool
}

func stillFinalizing(def *crd.Definition, obj map[string]any) bool {
	f, ok := def.Hooks.(finalizing)
	return ok && f.StillFinalizing(obj)
}

// commit stores the new state in place of entry.
func (e *Engine) commit(ctx context.Context, t Target, o WriteOptions, obj *unstructured.Unstructured, entry *Entry) (*Written, *Entry, error) {
	stored, err := t.Resource.toStorage(ctx, t.Version, obj.Object)
	if err != nil {
		return nil, nil, err
	}
	rev := entry.Revision
	if !o.DryRun && !bytes.Equal(stored, entry.Stored) {
		rev, err = e.store.Update(ctx, t.Resource.key(t.Namespace, t.Name), stored, entry.Revision, t.ttl(obj.Object))
		if next := conflicting(err); next != nil {
			return nil, next, nil
		}
		if err != nil {
			return nil, nil, t.storeError(err)
		}
		e.settle(ctx, t.Resource, rev)
	}
	data, err := t.stored(ctx, obj.Object, stored, rev)
	return &Written{Object: data, UID: string(obj.GetUID())}, nil, err
}

// finishDeletion removes an object whose last finalizer the write removed.
func (e *Engine) finishDeletion(ctx context.Context, t Target, o WriteOptions, obj *unstructured.Unstructured, entry *Entry) (*Written, *Entry, error) {
	rev := entry.Revision
	if !o.DryRun {
		var err error
		rev, err = e.store.Delete(ctx, t.Resource.key(t.Namespace, t.Name), entry.Revision)
		if next := conflicting(err); next != nil {
			return nil, next, nil
		}
		if err != nil {
			return nil, nil, t.storeError(err)
		}
		e.settle(ctx, t.Resource, rev)
	}
	setRevision(obj.Object, rev)
	data, err := object.Encode(obj.Object)
	return &Written{Object: data, Deleted: true, UID: string(obj.GetUID())}, nil, err
}

// conflicting returns the state that won against a write, if that is what err
// says.
func conflicting(err error) *Entry {
	var s *storage.Error
	if errors.As(err, &s) && s.Kind == storage.Conflict && s.Current != nil {
		return NewEntry(*s.Current)
	}
	return nil
}

func (t Target) ttl(obj map[string]any) (d time.Duration) {
	if t.Resource.Def.TTL != nil {
		d = t.Resource.Def.TTL(obj)
	}
	return d
}

// now is the deletion timestamp as the API writes it.
func now() *metav1.Time {
	n := metav1.Now().Rfc3339Copy()
	return &n
}
