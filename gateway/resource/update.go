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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/storage"
)

// change computes the new object from the JSON of the current one, both at the
// request's version. It may run several times; current is only read.
type change func(current []byte) (map[string]any, error)

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
	w, err := e.write(ctx, t, o, func([]byte) (map[string]any, error) {
		return obj.DeepCopy().Object, nil
	}, putRequest)
	if apierrors.IsNotFound(err) && t.Subresource == "" && t.Version.Strategy.AllowCreateOnUpdate(ctx) {
		if uid := obj.GetUID(); uid != "" {
			return nil, t.wrongUID(uid, "")
		}
		obj.SetResourceVersion("")
		return e.createTree(ctx, t, tree, o)
	}
	return w, err
}

// request tells a PUT from a PATCH.
type request int

const (
	putRequest request = iota
	patchRequest
)

// write is every change to an existing object: read, change, validate,
// convert, compare and set.
func (e *Engine) write(ctx context.Context, t Target, o WriteOptions, f change, kind request) (*Written, error) {
	end, err := t.Resource.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	strategy, err := t.updateStrategy()
	if err != nil {
		return nil, err
	}
	w := writing{Engine: e, Target: t, options: o, strategy: strategy, change: f, kind: kind}
	return e.retry(ctx, t, o.DryRun, func(from origin) (*Written, *Entry, error) { return w.once(ctx, from) })
}

// final wraps an error that came from the store's answer to a write, or after
// it. What was asked for may have happened: it is not to be tried again.
type final struct{ error }

// retry carries out a write against the state that is known: against newer
// ones as long as once returns such (because somebody else wrote first), and
// against the store's own when once refused a cached one, which may be behind.
func (e *Engine) retry(ctx context.Context, t Target, live bool, once func(from origin) (*Written, *Entry, error)) (*Written, error) {
	from, err := e.current(ctx, t, live)
	for range maxAttempts {
		if err != nil {
			return nil, err
		}
		w, next, refused := once(from)
		var done final
		switch {
		case next != nil:
			from = origin{next, true}
		case errors.As(refused, &done):
			return nil, done.error
		case refused == nil || from.live || ctx.Err() != nil:
			return w, refused
		default:
			stale := from.Revision
			if from, err = e.current(ctx, t, true); err == nil && from.Revision == stale {
				return nil, refused
			}
		}
	}
	return nil, apierrors.NewConflict(t.Resource.GroupResource(), t.Name, errModified)
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

// writing is one change to one object.
type writing struct {
	*Engine
	Target
	options  WriteOptions
	strategy rest.RESTUpdateStrategy
	change   change
	kind     request
}

// once tries the write against one state. When that is no longer current it
// returns the one that is.
func (w *writing) once(ctx context.Context, from origin) (*Written, *Entry, error) {
	data, err := w.Resource.View(ctx, from.Entry, w.Version.Name)
	if err != nil {
		return nil, nil, err
	}
	oldTree, _, err := object.Parse(data)
	if err != nil {
		return nil, nil, w.Resource.unreadable(from.Entry, err)
	}
	newTree, err := w.change(data)
	if err != nil {
		return nil, nil, err
	}
	old, obj := asUnstructured(oldTree), asUnstructured(newTree)
	if err := w.precondition(ctx, obj, old, from.Revision); err != nil {
		return nil, nil, err
	}
	keepSystemMetadata(obj, old)
	if err := rest.BeforeUpdate(w.strategy, w.scope(ctx, w.options), obj, old); err != nil {
		return nil, nil, err
	}
	if gone(w.Resource.Def, obj) {
		return w.remove(ctx, w.Target, w.options, obj, from)
	}
	return w.commit(ctx, obj, from)
}

// precondition checks uid and resourceVersion of the new state.
func (w *writing) precondition(ctx context.Context, obj, old *unstructured.Unstructured, rev int64) error {
	gr := w.Resource.GroupResource()
	// Of a patch the strategy refuses another uid, as an immutable field.
	if uid := obj.GetUID(); uid != "" && uid != old.GetUID() && w.kind == putRequest {
		return w.wrongUID(uid, old.GetUID())
	}
	rv := obj.GetResourceVersion()
	if rv == "" || rv == "0" {
		if !w.strategy.AllowUnconditionalUpdate(ctx) {
			return apierrors.NewInvalid(schema.GroupKind{Group: gr.Group, Kind: gr.Resource}, w.Name, field.ErrorList{
				field.Invalid(field.NewPath("metadata", revisionField), uint64(0), "must be specified for an update"),
			})
		}
		obj.SetResourceVersion(strconv.FormatInt(rev, 10))
		return nil
	}
	if _, err := strconv.ParseUint(rv, 10, 63); err != nil {
		return apierrors.NewInvalid(w.Resource.Def.GVK(w.Version.Name).GroupKind(), w.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", revisionField), rv, err.Error()),
		})
	}
	if rv != strconv.FormatInt(rev, 10) {
		return apierrors.NewConflict(gr, w.Name, errModified)
	}
	return nil
}

// wrongUID is the refusal of a write that is about another object of the same
// name, in kube-apiserver's words.
func (t Target) wrongUID(want, have types.UID) error {
	why := fmt.Sprintf("Precondition failed: UID in precondition: %v, UID in object meta: %v", want, have)
	return apierrors.NewConflict(t.Resource.GroupResource(), t.Name, apistorage.NewInvalidObjError(t.Resource.key(t.Namespace, t.Name), why))
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

// commit stores the new state in place of from.
func (w *writing) commit(ctx context.Context, obj *unstructured.Unstructured, from origin) (*Written, *Entry, error) {
	stored, err := w.Resource.toStorage(ctx, w.Version, obj.Object)
	if err != nil {
		return nil, nil, err
	}
	rev, next, err := w.replace(ctx, w.Target, w.options, replacement{stored, w.ttl(obj.Object), from})
	if next != nil || err != nil {
		return nil, next, err
	}
	data, err := w.stored(ctx, obj.Object, stored, rev)
	if err != nil {
		return nil, nil, final{err}
	}
	return &Written{Object: data, UID: string(obj.GetUID())}, nil, nil
}

// replacement is a new state for an existing key.
type replacement struct {
	stored []byte
	ttl    time.Duration
	from   origin
}

// replace stores a new state, unless it is the old one, and returns the
// revision at which it is there.
func (e *Engine) replace(ctx context.Context, t Target, o WriteOptions, r replacement) (int64, *Entry, error) {
	if bytes.Equal(r.stored, r.from.Stored) {
		if r.from.live {
			return r.from.Revision, nil, nil
		}
		// A cached state proves nothing: somebody may have written since what
		// this write would change.
		now, err := e.current(ctx, t, true)
		if err != nil {
			return 0, nil, err
		}
		if now.Revision != r.from.Revision {
			return 0, now.Entry, nil
		}
		return now.Revision, nil, nil
	}
	if o.DryRun {
		return r.from.Revision, nil, nil
	}
	rev, err := e.store.Update(ctx, t.Resource.key(t.Namespace, t.Name), r.stored, r.from.Revision, r.ttl)
	if next := conflicting(err); next != nil {
		return 0, next, nil
	}
	if err != nil {
		return 0, nil, final{t.storeError(err)}
	}
	e.settle(ctx, t.Resource, rev)
	return rev, nil, nil
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
