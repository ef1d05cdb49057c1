package write

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// Delete deletes an object, or marks it deleted while something holds it up.
//
// It works on the stored form: what is not in metadata stays as it is stored,
// at the version it is stored at. A client's request at a version has to be
// answerable at that version, as in kube-apiserver, so a converter that fails
// refuses it before anything is written. The gateway's own deletions (of
// namespaces, of definitions) want no reply, and never convert.
func (e *Writer) Delete(ctx context.Context, t resource.Target, o *metav1.DeleteOptions, w resource.WriteOptions) (*resource.Written, error) {
	return e.remove(ctx, request{Target: t, Options: w}, deleting{options: o})
}

func (e *Writer) remove(ctx context.Context, r request, d deleting) (*resource.Written, error) {
	o := d.options
	if err := validateDeletion(o); err != nil {
		return nil, err
	}
	if silent(o) && r.Resource.Def.OrphanWarning != "" {
		r.Options.AddWarning(r.Resource.Def.OrphanWarning)
	}
	r.stored, d.objects = true, e.o.Objects
	one := &Write{request: r, writer: e, source: d}
	one.operation = admission.Delete
	out, err := one.run(ctx)
	if err != nil || !one.markedOnly() {
		return out, err
	}
	return one.finish(ctx)
}

// validateDeletion refuses options that say nothing sensible.
func validateDeletion(o *metav1.DeleteOptions) error {
	if errs := validation.ValidateDeleteOptions(o); len(errs) > 0 {
		return invalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	return nil
}

// deleting is the source of a state that is being deleted.
type deleting struct {
	options *metav1.DeleteOptions
	// ofCollection: the request named the collection, not the object.
	ofCollection bool
	// objects are what the hooks of the kind may look up.
	objects crd.Objects
	// may refuses to delete a stored state; nil allows it.
	may func(obj *unstructured.Unstructured) error
}

// decode implements [source]; the options were decoded at the edge.
func (deleting) decode(*request) error { return nil }

// size implements [source].
func (deleting) size() int { return 0 }

// change implements [source]: it decides whether anything holds the deletion
// up, and marks the object if so. Of a kind whose deletions take time, the first
// says how much, and others may only shorten it.
func (d deleting) change(ctx context.Context, r *request, from *present) (n next, err error) {
	n.object = from.object
	obj, def := n.object, r.Resource.Def
	if err := preconditions(r.Target, d.options.Preconditions, from); err != nil {
		return n, err
	}
	if d.may != nil {
		managed := object.Detach(obj.Object)
		err := d.may(obj)
		if object.SetManaged(obj.Object, managed); err != nil {
			return n, err
		}
	}
	first := obj.GetDeletionTimestamp() == nil
	if h := def.Hooks; h != nil {
		if err := h.BeforeDelete(ctx, d.objects, obj.Object); err != nil {
			return n, err
		}
	}
	if first && obj.GetDeletionTimestamp() != nil {
		return n, nil // the kind began the deletion its own way
	}
	asked := seconds(d.options)
	shortens := def.Grace != nil && takesTime(obj)
	if shortens && !shorten(obj, asked) {
		return n, nil
	}
	finalizing := stillFinalizing(def, obj.Object)
	if first || !finalizing {
		collect(obj, d.options, def)
	}
	if first && def.Grace != nil {
		takes := def.Grace(obj.Object, asked)
		begin(obj, takes)
		obj.SetDeletionGracePeriodSeconds(&takes)
	}
	switch {
	case def.Grace != nil && takesTime(obj):
		return n, nil
	case !heldUp(def, obj):
		if def.Grace == nil || !first && !shortens || r.Options.DryRun {
			n.ending = removes // else it is marked, and then removed
		}
		return n, nil
	case obj.GetDeletionTimestamp() == nil:
		begin(obj, 0)
	}
	if !finalizing {
		obj.SetDeletionGracePeriodSeconds(new(int64))
	}
	return n, nil
}

// silent tells that options do not say what becomes of dependents.
func silent(o *metav1.DeleteOptions) bool {
	return o.OrphanDependents == nil && o.PropagationPolicy == nil //lint:ignore SA1019 clients still send it
}

// ofCollector tells whether a finalizer says what becomes of dependents.
func ofCollector(finalizer string) bool {
	return finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents
}

// collect gives obj the finalizer that makes the garbage collector do what the
// options want of its dependents, and takes away the other. Options that want
// nothing leave the finalizers as they are; where there are none, some kinds
// leave their dependents by default.
func collect(obj *unstructured.Unstructured, o *metav1.DeleteOptions, def *crd.Definition) {
	var want string
	have := obj.GetFinalizers()
	orphan := o.OrphanDependents //lint:ignore SA1019 clients still send it
	switch p := o.PropagationPolicy; {
	case def.OwnsNothing:
	case orphan != nil && *orphan, p != nil && *p == metav1.DeletePropagationOrphan:
		want = metav1.FinalizerOrphanDependents
	case p != nil && *p == metav1.DeletePropagationForeground:
		want = metav1.FinalizerDeleteDependents
	case silent(o) && (!def.OrphansByDefault || slices.ContainsFunc(have, ofCollector)):
		return
	case silent(o):
		want = metav1.FinalizerOrphanDependents
	}
	left := slices.DeleteFunc(slices.Clone(have), func(f string) bool {
		return f != want && ofCollector(f)
	})
	if want != "" && !slices.Contains(left, want) {
		left = append(left, want)
	}
	if !slices.Equal(left, have) {
		obj.SetFinalizers(left)
	}
}

// preconditions checks that the present state is the one that is meant.
func preconditions(t resource.Target, p *metav1.Preconditions, from *present) error {
	// Named by the kind, as kube-apiserver does it here.
	gr := schema.GroupResource{Group: t.Resource.Def.Group, Resource: t.Resource.Def.Kind}
	return resource.Mismatch(gr, t.Name, p, from.object.GetUID(), strconv.FormatInt(from.entry.Revision, 10))
}

// DeleteCollection deletes every object that the list options select. They are
// what the client is told, so reply gets them first, as a list at the revision
// that was read; if it fails, nothing happens.
func (e *Writer) DeleteCollection(ctx context.Context, t resource.Target, list *internalversion.ListOptions, o *metav1.DeleteOptions, w resource.WriteOptions, reply func(*resource.List) error) error {
	if unreadableOnly(o) {
		return invalidOptions(field.Invalid(field.NewPath(optionUnreadable), true, "is not allowed with DELETECOLLECTION, try again after removing the option"))
	}
	if err := validateDeletion(o); err != nil {
		return err
	}
	l, err := e.reads.List(ctx, t, inPages(list))
	if err == nil {
		err = reply(l)
	}
	if err != nil {
		return err
	}
	return e.deleteAll(ctx, t, l.Entries, o, w)
}

// deleteAll deletes some objects at a time. Once one cannot be deleted no further one is
// begun, and the error is that of the first that failed.
func (e *Writer) deleteAll(ctx context.Context, t resource.Target, entries []*view.Entry, o *metav1.DeleteOptions, w resource.WriteOptions) error {
	all, failed := errgroup.WithContext(ctx)
	all.SetLimit(max(1, e.o.DeleteWorkers))
	w = w.Shared()
	for _, entry := range entries {
		all.Go(func() error {
			if failed.Err() != nil {
				return nil
			}
			return contained(e.log, func() error { return e.deleteEntry(ctx, t, entry, o, w) }) // which is not broken off when another fails
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	return inTime(ctx)
}

// contained turns a panic into an error: another goroutine than the request's must not take
// the gateway down with it.
func contained(log zerolog.Logger, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a deletion panicked")
			err = apierrors.NewInternalError(fmt.Errorf("panic: %v", p))
		}
	}()
	return do()
}

// deleteEntry deletes one object of a collection, of which it is no mistake that it is gone
// or has to stay.
func (e *Writer) deleteEntry(ctx context.Context, t resource.Target, entry *view.Entry, o *metav1.DeleteOptions, w resource.WriteOptions) error {
	meta, err := t.Resource.Metadata(entry)
	if err != nil {
		return err
	}
	t.Name, _ = object.String(object.Field(meta, "name"))
	if ns, ok := object.String(object.Field(meta, "namespace")); ok {
		t.Namespace = ns
	}
	var kept *crd.Kept
	if err := e.deleteOne(ctx, t, o, w); err != nil && !apierrors.IsNotFound(err) && !errors.As(err, &kept) {
		return err
	}
	return nil
}

// inPages makes of a revision what it is for a list in pages, as that of what is to
// be deleted is one: that state, and none that is newer.
func inPages(list *internalversion.ListOptions) *internalversion.ListOptions {
	out := *list
	if out.ResourceVersionMatch == "" {
		out.ResourceVersionMatch = metav1.ResourceVersionMatchExact
	}
	return &out
}

// deleteOne deletes one of many. A definition that is replaced meanwhile must
// not start the whole over: those that are gone already would be missing in the
// reply.
func (e *Writer) deleteOne(ctx context.Context, t resource.Target, o *metav1.DeleteOptions, w resource.WriteOptions) error {
	_, err := resource.Again(func() (*resource.Written, error) {
		out, err := e.remove(ctx, request{Target: t, Options: w}, deleting{options: o.DeepCopy(), ofCollection: true})
		if errors.Is(err, catalog.ErrReplaced) {
			at := t.Resource.Def.GVR(t.Version.Name)
			r, v := e.catalog.Snapshot().Find(at.Group, at.Version, at.Resource)
			if r == nil {
				return nil, apierrors.NewNotFound(t.GroupResource(), t.Name)
			}
			t.Resource, t.Version = r, v
		}
		return out, err
	})
	return err
}
