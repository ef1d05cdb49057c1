package controllertest

import (
	"context"
	"errors"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
)

// Kinds returns the definitions that are served.
func (o *Objects) Kinds(context.Context) ([]*crd.Definition, error) { return o.Served(), nil }

// Ownership reads who owns an object, from the cache, or with live from the store.
func (o *Objects) Ownership(_ context.Context, gr schema.GroupResource, namespace, name string, live bool) (*metav1.ObjectMeta, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.served[gr]; !ok {
		return nil, &meta.NoResourceMatchError{PartialResource: gr.WithVersion("")}
	}
	from := o.cached
	if live {
		from = o.stored
	}
	obj, ok := from[controller.Key{GroupResource: gr, Namespace: namespace, Name: name}]
	if !ok {
		return nil, apierrors.NewNotFound(gr, name)
	}
	m, err := metadata(obj)
	return &m.ObjectMeta, err
}

// UpdateMetadata changes the metadata of the object that p means.
func (o *Objects) UpdateMetadata(_ context.Context, gr schema.GroupResource, namespace, name string, p metav1.Preconditions, change func(metav1.Object)) error {
	key := controller.Key{GroupResource: gr, Namespace: namespace, Name: name}
	if err := o.failure("update", key); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	old, ok := o.stored[key]
	if !ok {
		return apierrors.NewNotFound(gr, name)
	}
	if err := meant(gr, old, &p); err != nil {
		return err
	}
	next := old.DeepCopy()
	change(next)
	switch {
	case reflect.DeepEqual(next.Object, old.Object):
	case next.GetDeletionTimestamp() != nil && !heldBack(gr, next):
		o.commitLocked(key, nil)
	default:
		o.commitLocked(key, next)
	}
	return nil
}

// meant checks that an object is the one, and as, preconditions want it.
func meant(gr schema.GroupResource, obj *unstructured.Unstructured, p *metav1.Preconditions) error {
	switch {
	case p == nil:
	case p.UID != nil && *p.UID != obj.GetUID():
		return apierrors.NewConflict(gr, obj.GetName(), errors.New("the uid does not match"))
	case p.ResourceVersion != nil && *p.ResourceVersion != obj.GetResourceVersion():
		return apierrors.NewConflict(gr, obj.GetName(), errors.New("the resourceVersion does not match"))
	}
	return nil
}

// propagate gives obj the finalizer that says what becomes of its dependents, and takes
// away the other.
func propagate(obj *unstructured.Unstructured, policy *metav1.DeletionPropagation) {
	if policy == nil {
		return
	}
	finalizers := slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch *policy {
	case metav1.DeletePropagationOrphan:
		finalizers = append(finalizers, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		finalizers = append(finalizers, metav1.FinalizerDeleteDependents)
	}
	obj.SetFinalizers(finalizers)
}

// Feed tells what becomes of the objects of a kind: by comparing what reads see with what
// it told last.
type Feed struct {
	o    *Objects
	gr   schema.GroupResource
	told map[controller.Key]*unstructured.Unstructured // nil before the first time
}

// Feed follows a kind from now on.
func (o *Objects) Feed(gr schema.GroupResource) *Feed { return &Feed{o: o, gr: gr} }

// Wait returns a channel that is closed once Next has something to tell.
func (f *Feed) Wait() <-chan struct{} {
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	if f.told != nil && len(f.differLocked()) == 0 {
		return f.o.changed
	}
	ready := make(chan struct{})
	close(ready)
	return ready
}

// differLocked are the keys of which there is something to tell.
func (f *Feed) differLocked() (keys []controller.Key) {
	for key, obj := range f.o.cached {
		if key.GroupResource == f.gr && f.told[key] != obj {
			keys = append(keys, key)
		}
	}
	for key := range f.told {
		if f.o.cached[key] == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// Next calls fn for what changed since the last call, first for all that there is.
func (f *Feed) Next(fn func(m *metav1.ObjectMeta, gone bool)) (anew, more bool, err error) {
	f.o.mu.Lock()
	type change struct{ was, is *unstructured.Unstructured }
	var changes []change
	if anew = f.told == nil; anew {
		f.told = map[controller.Key]*unstructured.Unstructured{}
	}
	for _, key := range f.differLocked() {
		c := change{f.told[key], f.o.cached[key]}
		changes = append(changes, c)
		if f.told[key] = c.is; c.is == nil {
			delete(f.told, key)
		}
	}
	f.o.mu.Unlock()
	tell := func(obj *unstructured.Unstructured, gone bool) {
		m, failed := metadata(obj)
		if err = errors.Join(err, failed); failed == nil {
			fn(&m.ObjectMeta, gone)
		}
	}
	for _, c := range changes {
		if c.was != nil && (c.is == nil || c.is.GetUID() != c.was.GetUID()) {
			tell(c.was, true)
		}
		if c.is != nil {
			tell(c.is, false)
		}
	}
	return anew, false, err
}
