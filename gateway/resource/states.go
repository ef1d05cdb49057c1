package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
)

// What admission sees of a write, and how it changes it.

// Kind is the kind of the objects that admission sees, at the version of the
// request: a Scale for a write of a scale.
func (w *Write) Kind() schema.GroupVersionKind {
	if w.sent != nil {
		return *w.sent
	}
	if w.scalePaths() != nil {
		return schema.FromAPIVersionAndKind(scaleAPIVersion, scaleKind)
	}
	return w.gvk()
}

// DeleteOptions are those of a deletion, nil for every other write.
func (w *Write) DeleteOptions() *metav1.DeleteOptions {
	if d, ok := w.source.(deleting); ok {
		return d.options
	}
	return nil
}

// OfCollection tells that the write is the deletion of one object of a
// collection, which is all that the request named.
func (w *Write) OfCollection() bool {
	d, ok := w.source.(deleting)
	return ok && d.ofCollection
}

// NewAt is the new state at a version, with its managedFields, nil for a
// deletion. It shares parts with the write, and is only to be read.
func (w *Write) NewAt(ctx context.Context, version string) (map[string]any, error) {
	if w.operation == OperationDelete {
		return nil, nil
	}
	if s := w.scales; s != nil {
		return s.now, s.tell(ctx, w)
	}
	tree := w.object.Object
	if !w.stored {
		tree = maps.Clone(tree)
		if meta, ok := tree["metadata"].(map[string]any); ok {
			tree["metadata"] = maps.Clone(meta)
		}
		object.SetManaged(tree, w.managed.next)
	}
	if w.sent != nil {
		return tree, nil
	}
	if w.object.GetAPIVersion() != w.Resource.Def.APIVersion(version) {
		var err error
		if tree, err = w.Resource.ConvertTree(ctx, tree, version); err != nil {
			return nil, err
		}
	}
	return w.shown(tree)
}

// OldAt is the present state at a version, with its managedFields, nil for a
// creation. It belongs to the caller. It may ask the converter.
func (w *Write) OldAt(ctx context.Context, version string) (map[string]any, error) {
	if w.from.Entry == nil {
		return nil, nil
	}
	if s := w.scales; s != nil {
		err := s.tell(ctx, w)
		return object.Clone(s.old), err
	}
	data, err := w.Resource.View(ctx, w.from.Entry, version)
	if err != nil {
		return nil, err
	}
	tree, _, err := object.ParseObject(data)
	if err != nil {
		return nil, w.Resource.Unreadable(w.from.Entry, err)
	}
	return w.shown(tree)
}

// shown is the object as the request speaks of it.
func (w *Write) shown(tree map[string]any) (map[string]any, error) {
	paths := w.scalePaths()
	if paths == nil {
		return tree, nil
	}
	scale, _, err := scaleOf(paths, tree)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return scale, nil
}

// Labels are those of the objects that admission sees, as far as there are such:
// of the new state and of the present one. They are only to be read. The options
// of a connection have none, and can be selected by none.
func (w *Write) Labels() (states []labels.Set, err error) {
	switch {
	case w.operation == OperationConnect:
		return nil, nil
	case w.scalePaths() != nil: // a Scale has none but those that the client sent
		return w.scales.labels(), nil
	case w.operation != OperationDelete:
		states = append(states, w.object.GetLabels())
	}
	if w.from.Entry != nil {
		var old labels.Set
		if old, err = w.Resource.Labels(w.from.Entry); err == nil {
			states = append(states, old)
		}
	}
	return states, err
}

// NamespaceLabels are the labels of a namespace.
func (w *Write) NamespaceLabels(ctx context.Context, name string) (labels.Set, error) {
	entry, err := w.engine.namespace(ctx, name)
	if err != nil {
		return nil, err
	}
	return w.engine.catalog.Snapshot().Resource(namespaces).Labels(entry)
}

// NamespaceObject is a namespace as it is now. It belongs to the caller.
func (w *Write) NamespaceObject(ctx context.Context, name string) (*corev1.Namespace, error) {
	entry, err := w.engine.namespace(ctx, name)
	if err != nil {
		return nil, err
	}
	r := w.engine.catalog.Snapshot().Resource(namespaces)
	data, err := r.View(ctx, entry, r.Def.StorageVersion)
	if err != nil {
		return nil, err
	}
	out := &corev1.Namespace{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, r.Unreadable(entry, err)
	}
	return out, nil
}

// OverlayAt is the new state at a version with a part of an object merged over
// it by the schema, and with its managedFields. It changes nothing, and is only
// to be read.
func (w *Write) OverlayAt(ctx context.Context, version string, part map[string]any) (map[string]any, error) {
	whole, err := w.NewAt(ctx, version)
	if err != nil {
		return nil, err
	}
	owners := w.ownership()
	if owners == nil {
		return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("there is no schema of %v to merge by", w.Kind()))
	}
	whole = maps.Clone(whole)
	if meta, ok := whole["metadata"].(map[string]any); ok {
		whole["metadata"] = maps.Clone(meta)
	}
	managed := object.Detach(whole)
	out, err := owners.Overlay(version, whole, part)
	if err != nil || managed == nil {
		return out, err
	}
	out = maps.Clone(out)
	if meta, ok := out["metadata"].(map[string]any); ok {
		out["metadata"] = maps.Clone(meta)
	}
	object.SetManaged(out, managed)
	return out, nil
}

// Replace makes tree, a form of the new state at a version that somebody else
// changed, the new state: made well-formed by the schema, and converted to
// where the write has it. The tree belongs to the write afterwards.
func (w *Write) Replace(ctx context.Context, version string, tree map[string]any) error {
	if paths := w.scalePaths(); paths != nil {
		replicas, err := w.wantedReplicas(tree)
		if err != nil {
			return err
		}
		if w.scales != nil {
			w.scales.now = tree
		}
		return unstructured.SetNestedField(w.object.Object, replicas, fieldsOf(paths.SpecReplicasPath)...)
	}
	if err := w.wellShaped(version, tree); err != nil {
		return apierrors.NewInternalError(err)
	}
	if w.sent != nil {
		return w.takeObject(tree)
	}
	at := w.Resource.Def.At(w.object.GetAPIVersion())
	if at == nil {
		return apierrors.NewInternalError(fmt.Errorf("there is no version of %q", w.object.GetAPIVersion()))
	}
	if at.Name != version {
		var err error
		if tree, err = w.Resource.ConvertTree(ctx, tree, at.Name); err != nil {
			return err
		}
	}
	return w.takeObject(tree)
}

// wellShaped makes tree a well-formed object of a version, or of the kind that was
// sent, if that is known.
func (w *Write) wellShaped(version string, tree map[string]any) error {
	v := w.Resource.Def.Version(version)
	if w.sent != nil {
		if v = w.body(); v == nil {
			return nil
		}
	}
	if v == nil {
		return fmt.Errorf("there is no version %q", version)
	}
	_, err := v.Shape.FromClient(tree, false)
	return err
}

// takeObject makes tree the new state.
func (w *Write) takeObject(tree map[string]any) (err error) {
	if !w.stored {
		if w.managed.next, err = object.TakeManaged(tree); err != nil {
			return apierrors.NewInternalError(err)
		}
	}
	w.object = &unstructured.Unstructured{Object: tree}
	if w.sent == nil {
		w.object = asUnstructured(tree)
	}
	return nil
}
