package controller

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// stragglerChecks is when to look again for objects in a namespace that is
// gone. A create that passed the check for its namespace before the deletion
// was visible to it can commit up to a request's length later; nothing else
// would ever find that object.
var stragglerChecks = []time.Duration{5 * time.Second, 60 * time.Second}

// NamespaceFinalizer empties namespaces that are being deleted and then lets
// them go. It works on stored metadata and converts nothing, so a converter
// that fails cannot hold a namespace.
type NamespaceFinalizer struct {
	objects Objects

	// mu guards gone: for a namespace that was let go, how many of
	// stragglerChecks were made.
	mu   sync.Mutex
	gone map[string]int
}

// NewNamespaceFinalizer returns the controller.
func NewNamespaceFinalizer(objects Objects) *NamespaceFinalizer {
	return &NamespaceFinalizer{objects: objects, gone: map[string]int{}}
}

// Name implements [Controller].
func (c *NamespaceFinalizer) Name() string { return "namespace" }

// Watches implements [Controller].
func (c *NamespaceFinalizer) Watches() []schema.GroupResource {
	return []schema.GroupResource{NamespaceResource}
}

// Workers implements [Concurrent].
func (c *NamespaceFinalizer) Workers() int { return 4 }

// Reconcile implements [Controller].
func (c *NamespaceFinalizer) Reconcile(ctx context.Context, q Queue, key Key) error {
	obj, err := c.objects.Get(ctx, NamespaceResource, "", key.Name)
	if apierrors.IsNotFound(err) {
		q.Follow(key)
		return c.stragglers(ctx, q, key)
	}
	if err != nil {
		return err
	}
	var ns corev1.Namespace
	if err := decode(obj, &ns); err != nil {
		return err
	}
	if ns.DeletionTimestamp == nil || !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		c.forget(key.Name)
		q.Follow(key)
		return nil
	}
	if ns.Status.Phase != corev1.NamespaceTerminating {
		ns.Status.Phase = corev1.NamespaceTerminating
		if obj, err = c.writeStatus(ctx, obj, &ns.Status); err != nil {
			return ignoreNotFound(err)
		}
	}
	left, err := c.empty(ctx, ns.Name)
	if err != nil {
		return err
	}
	if setNamespaceConditions(&ns.Status, left, metav1.Now()) {
		if obj, err = c.writeStatus(ctx, obj, &ns.Status); err != nil {
			return ignoreNotFound(err)
		}
	}
	if len(left.failures) > 0 {
		return errors.Join(left.failures...)
	}
	if !left.empty() {
		q.Follow(key, slices.Collect(maps.Keys(left.items))...)
		q.AddAfter(key, recheck)
		return nil
	}
	return c.release(ctx, q, key, obj)
}

// empty deletes everything in the namespace and returns what is left of it.
func (c *NamespaceFinalizer) empty(ctx context.Context, namespace string) (*remains, error) {
	found, err := c.content(ctx, namespace)
	if err != nil || found.empty() {
		return found, err
	}
	failures := found.failures
	for s, items := range found.items {
		failures = append(failures, deleteContent(ctx, c.objects, s, items)...)
	}
	// While one kind was emptied another may have been filled, so all are
	// looked at again.
	left, err := c.content(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if len(failures) > 0 {
		left.failures = failures
	}
	return left, nil
}

// content is everything in the namespace that was committed before the call.
func (c *NamespaceFinalizer) content(ctx context.Context, namespace string) (*remains, error) {
	if err := c.objects.Fresh(ctx); err != nil {
		return nil, err
	}
	r := &remains{items: map[Scope][]metav1.PartialObjectMetadata{}}
	for _, served := range c.objects.Served() {
		if !served.Namespaced {
			continue
		}
		s := Scope{served.GroupResource, namespace}
		items, err := listContent(ctx, c.objects, s)
		if err != nil {
			r.failures = append(r.failures, err)
		}
		if len(items) > 0 {
			r.items[s] = items
		}
	}
	return r, nil
}

// release removes the finalizer, with which the namespace goes unless it has
// others.
func (c *NamespaceFinalizer) release(ctx context.Context, q Queue, key Key, obj *unstructured.Unstructured) error {
	spec := section(obj, "spec")
	finalizers, _ := spec["finalizers"].([]any)
	spec["finalizers"] = slices.DeleteFunc(slices.Clone(finalizers), func(f any) bool {
		return f == string(corev1.FinalizerKubernetes)
	})
	obj.Object["spec"] = spec
	if _, err := c.objects.Update(ctx, NamespaceResource, "finalize", obj); err != nil {
		return ignoreNotFound(err)
	}
	q.Follow(key)
	c.mu.Lock()
	c.gone[key.Name] = 0
	c.mu.Unlock()
	q.AddAfter(key, stragglerChecks[0])
	return nil
}

// stragglers deletes what was created in a namespace that is gone.
func (c *NamespaceFinalizer) stragglers(ctx context.Context, q Queue, key Key) error {
	c.mu.Lock()
	check, ok := c.gone[key.Name]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	found, err := c.content(ctx, key.Name)
	if err != nil {
		return err
	}
	// Only after the lists: if there is no namespace now, then what was listed
	// cannot belong to a new one of the same name.
	if err := c.objects.Fresh(ctx); err != nil {
		return err
	}
	if _, err := c.objects.Get(ctx, NamespaceResource, "", key.Name); !apierrors.IsNotFound(err) {
		c.forget(key.Name)
		return err
	}
	errs := found.failures
	for s, items := range found.items {
		errs = append(errs, deleteContent(ctx, c.objects, s, items)...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if check++; check == len(stragglerChecks) {
		c.forget(key.Name)
		return nil
	}
	c.mu.Lock()
	c.gone[key.Name] = check
	c.mu.Unlock()
	q.AddAfter(key, stragglerChecks[check])
	return nil
}

func (c *NamespaceFinalizer) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.gone, name)
}

// writeStatus writes a status and returns the object as it is then, which the
// next write has to be based on.
func (c *NamespaceFinalizer) writeStatus(ctx context.Context, obj *unstructured.Unstructured, status *corev1.NamespaceStatus) (*unstructured.Unstructured, error) {
	if err := setStatus(obj, status); err != nil {
		return nil, err
	}
	return c.objects.Update(ctx, NamespaceResource, "status", obj)
}
