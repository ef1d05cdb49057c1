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
)

// Delete deletes an object, or marks it deleted while finalizers remain.
//
// It works on the stored form: what is not in metadata stays as it is stored,
// at the version it is stored at. A client's request at a version has to be
// answerable at that version, as in kube-apiserver, so a converter that fails
// refuses it before anything is written. The gateway's own deletions (of
// namespaces, of definitions) have no version and never convert.
func (e *Engine) Delete(ctx context.Context, t Target, o *metav1.DeleteOptions, w WriteOptions) (*Written, error) {
	if errs := validation.ValidateDeleteOptions(o); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	end, err := t.Resource.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	return e.retry(ctx, t, w.DryRun, func(from origin) (*Written, *Entry, error) { return e.deleteOnce(ctx, t, o, w, from) })
}

func (e *Engine) deleteOnce(ctx context.Context, t Target, o *metav1.DeleteOptions, w WriteOptions, from origin) (*Written, *Entry, error) {
	entry := from.Entry
	tree, err := t.Resource.Def.Codec.Decode(entry.Stored)
	if err != nil {
		return nil, nil, t.Resource.unreadable(entry, err)
	}
	obj := asUnstructured(tree)
	if err := t.deletePreconditions(o, obj, entry); err != nil {
		return nil, nil, err
	}
	if _, err := t.reply(ctx, entry); err != nil {
		return nil, nil, err
	}
	if h := t.Resource.Def.Hooks; h != nil {
		if _, err := h.BeforeDelete(ctx, tree); err != nil {
			return nil, nil, err
		}
	}
	if len(obj.GetFinalizers()) == 0 && !stillFinalizing(t.Resource.Def, tree) {
		return e.remove(ctx, t, w, obj, from)
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
	return e.mark(ctx, t, w, obj, from)
}

func (t Target) deletePreconditions(o *metav1.DeleteOptions, obj *unstructured.Unstructured, entry *Entry) error {
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

// remove takes the object out of the store. obj is its last state, which is
// the reply.
func (e *Engine) remove(ctx context.Context, t Target, o WriteOptions, obj *unstructured.Unstructured, from origin) (*Written, *Entry, error) {
	rev := from.Revision
	if !o.DryRun {
		var err error
		rev, err = e.store.Delete(ctx, t.Resource.key(t.Namespace, t.Name), from.Revision)
		if next := conflicting(err); next != nil {
			return nil, next, nil
		}
		if err != nil {
			return nil, nil, final{t.storeError(err)}
		}
		e.settle(ctx, t.Resource, rev)
	}
	setRevision(obj.Object, rev)
	data, err := object.Encode(obj.Object)
	if err != nil {
		return nil, nil, final{err}
	}
	return &Written{Object: data, Deleted: true, UID: string(obj.GetUID())}, nil, nil
}

// mark stores the object as being deleted; the stored version stays.
func (e *Engine) mark(ctx context.Context, t Target, o WriteOptions, obj *unstructured.Unstructured, from origin) (*Written, *Entry, error) {
	unstructured.RemoveNestedField(obj.Object, "metadata", revisionField)
	stored, err := t.Resource.Def.Codec.Encode(obj.Object)
	if err != nil {
		return nil, nil, apierrors.NewInternalError(err)
	}
	rev, next, err := e.replace(ctx, t, o, replacement{stored, t.ttl(obj.Object), from})
	if next != nil || err != nil {
		return nil, next, err
	}
	data, err := t.reply(ctx, &Entry{Revision: rev, Stored: stored})
	if err != nil {
		return nil, nil, final{err}
	}
	return &Written{Object: data, UID: string(obj.GetUID())}, nil, nil
}

// reply is an entry in the form of the request: at its version, or (for the
// gateway's own deletions, which have none) metadata only.
func (t Target) reply(ctx context.Context, e *Entry) ([]byte, error) {
	if t.Version == nil {
		return t.Resource.MetadataView(e)
	}
	return t.Resource.View(ctx, e, t.Version.Name)
}

// DeleteCollection deletes every object that the list options select and
// returns what it deleted, as a list at the revision that was read.
func (e *Engine) DeleteCollection(ctx context.Context, t Target, list *internalversion.ListOptions, o *metav1.DeleteOptions, w WriteOptions) (*List, error) {
	l, err := e.List(ctx, t, list)
	if err != nil {
		return nil, err
	}
	// All of them are part of the reply; if it cannot be made, nothing happens.
	if _, err := t.Resource.Views(ctx, l.Entries, t.Version.Name); err != nil {
		return nil, err
	}
	for _, entry := range l.Entries {
		meta, err := t.Resource.metadataJSON(entry)
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
