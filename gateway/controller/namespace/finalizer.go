// Package namespace owns the life of namespaces: the system's always exist, and
// one that is deleted goes after everything in it.
//
// It must not know any kind of object that is in a namespace.
package namespace

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/content"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
)

// Objects is what a namespace is let go with. Errors are the API's status
// errors (k8s.io/apimachinery/pkg/api/errors); objects that are returned belong
// to the caller.
type Objects interface {
	// Get reads an object at its storage version, from the cache.
	Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error)
	// Update writes obj through a subresource ("" = the object itself). The
	// object's resourceVersion must be current, else it is a Conflict.
	Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Fresh waits until the cache holds everything that was committed before
	// the call.
	Fresh(ctx context.Context) error
	// Served returns the definitions that are served now. They are shared and
	// not to be changed.
	Served() []*crd.Definition
}

// stragglerChecks is when to look again for objects in a namespace that is
// gone. A create that passed the check for its namespace before the deletion
// was visible to it can commit up to a request's length later; nothing else
// would ever find that object.
var stragglerChecks = []time.Duration{5 * time.Second, 60 * time.Second}

// Finalizer empties namespaces that are being deleted and then lets
// them go. It works on stored metadata and converts nothing, so a converter
// that fails cannot hold a namespace.
type Finalizer struct {
	objects Objects
	served  content.Objects
	stored  content.Objects

	// mu guards gone: for a namespace that was let go, how many of
	// stragglerChecks were made.
	mu   sync.Mutex
	gone map[string]int
}

// NewFinalizer returns the controller. objects are the namespaces, served the
// objects of every kind that is served, stored what the store holds of any
// custom resource, served or not.
func NewFinalizer(objects Objects, served, stored content.Objects) *Finalizer {
	return &Finalizer{objects: objects, served: served, stored: stored, gone: map[string]int{}}
}

// Name implements [controller.Controller].
func (c *Finalizer) Name() string { return "namespace" }

// Watches implements [controller.Controller].
func (c *Finalizer) Watches() []schema.GroupResource {
	return []schema.GroupResource{kinds.Namespaces}
}

// Workers implements [controller.Concurrent].
func (c *Finalizer) Workers() int { return 4 }

// Reconcile implements [controller.Controller].
func (c *Finalizer) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	obj, err := c.objects.Get(ctx, kinds.Namespaces, "", key.Name)
	if apierrors.IsNotFound(err) {
		q.Follow(key)
		return c.stragglers(ctx, q, key)
	}
	if err != nil {
		return err
	}
	var ns corev1.Namespace
	if err := kinds.Decode(obj, &ns); err != nil {
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
			return kinds.IgnoreNotFound(err)
		}
	}
	left, err := c.empty(ctx, ns.Name)
	if err != nil {
		return err
	}
	if setConditions(&ns.Status, left, metav1.Now()) {
		if obj, err = c.writeStatus(ctx, obj, &ns.Status); err != nil {
			return kinds.IgnoreNotFound(err)
		}
	}
	if len(left.failures) > 0 {
		return errors.Join(left.failures...)
	}
	if !left.empty() {
		q.Follow(key, left.scopes()...)
		q.AddAfter(key, content.Recheck)
		return nil
	}
	return c.release(ctx, q, key, obj)
}

// empty deletes everything in the namespace and returns what is left of it.
func (c *Finalizer) empty(ctx context.Context, namespace string) (*remains, error) {
	found, err := c.remaining(ctx, namespace)
	if err != nil || found.empty() {
		return found, err
	}
	failures := found.failures
	failures = append(failures, found.delete(ctx)...)
	// While one kind was emptied another may have been filled, so all are
	// looked at again.
	left, err := c.remaining(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if len(failures) > 0 {
		left.failures = failures
	}
	return left, nil
}

// remaining is everything in the namespace that was committed before the call.
func (c *Finalizer) remaining(ctx context.Context, namespace string) (*remains, error) {
	if err := c.objects.Fresh(ctx); err != nil {
		return nil, err
	}
	r := &remains{}
	served := map[schema.GroupResource]bool{}
	for _, d := range c.objects.Served() {
		for _, group := range d.Groups() {
			served[schema.GroupResource{Group: group, Resource: d.Plural}] = true
		}
		if d.Namespaced {
			r.add(ctx, c.served, controller.Scope{GroupResource: d.GroupResource(), Namespace: namespace})
		}
	}
	defined, err := c.served.ListMetadata(ctx, kinds.Definitions, "")
	if err != nil {
		return nil, err
	}
	for i := range defined {
		gr := schema.ParseGroupResource(defined[i].Name) // what a definition has to be named
		if !served[gr] && gr.Group != "" {
			r.add(ctx, c.stored, controller.Scope{GroupResource: gr, Namespace: namespace})
		}
	}
	return r, nil
}

// release removes the finalizer, with which the namespace goes unless it has
// others.
func (c *Finalizer) release(ctx context.Context, q controller.Queue, key controller.Key, obj *unstructured.Unstructured) error {
	spec := kinds.Section(obj, "spec")
	finalizers, _ := spec["finalizers"].([]any)
	spec["finalizers"] = slices.DeleteFunc(slices.Clone(finalizers), func(f any) bool {
		return f == string(corev1.FinalizerKubernetes)
	})
	obj.Object["spec"] = spec
	if _, err := c.objects.Update(ctx, kinds.Namespaces, "finalize", obj); err != nil {
		return kinds.IgnoreNotFound(err)
	}
	q.Follow(key)
	c.mu.Lock()
	c.gone[key.Name] = 0
	c.mu.Unlock()
	q.AddAfter(key, stragglerChecks[0])
	return nil
}

// stragglers deletes what was created in a namespace that is gone.
func (c *Finalizer) stragglers(ctx context.Context, q controller.Queue, key controller.Key) error {
	c.mu.Lock()
	check, ok := c.gone[key.Name]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	found, err := c.remaining(ctx, key.Name)
	if err != nil {
		return err
	}
	// Only after the lists: if there is no namespace now, then what was listed
	// cannot belong to a new one of the same name.
	if err := c.objects.Fresh(ctx); err != nil {
		return err
	}
	if _, err := c.objects.Get(ctx, kinds.Namespaces, "", key.Name); !apierrors.IsNotFound(err) {
		c.forget(key.Name)
		return err
	}
	errs := found.failures
	errs = append(errs, found.delete(ctx)...)
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

func (c *Finalizer) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.gone, name)
}

// writeStatus writes a status and returns the object as it is then, which the
// next write has to be based on.
func (c *Finalizer) writeStatus(ctx context.Context, obj *unstructured.Unstructured, status *corev1.NamespaceStatus) (*unstructured.Unstructured, error) {
	if err := kinds.SetStatus(obj, status); err != nil {
		return nil, err
	}
	return c.objects.Update(ctx, kinds.Namespaces, "status", obj)
}
