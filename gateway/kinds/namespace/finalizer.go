// Package namespace owns the life of namespaces: the system's always exist, and
// one that is deleted goes after everything in it.
//
// It must not know any kind of object that is in a namespace, but that pods go
// before everything else: who may reach a pod that still runs is said by objects
// around it.
package namespace

import (
	"context"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/controller/content"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Objects is what a namespace is let go with.
type Objects interface {
	client.Getter
	client.Updater
	client.Freshener
	client.Catalog
}

// Finalizer empties namespaces that are being deleted and then lets
// them go. It works on stored metadata and converts nothing, so a converter
// that fails cannot hold a namespace.
type Finalizer struct {
	objects Objects
	served  content.Objects
	stored  content.Objects
	memory  Memory

	// mu guards gone: for a namespace that was let go, which of stragglerChecks
	// is next.
	mu   sync.Mutex
	gone map[string]next
}

// NewFinalizer returns the controller. objects are the namespaces, served the
// objects of every kind that is served, stored what the store holds of any
// custom resource, served or not, and memory what was let go before.
func NewFinalizer(objects Objects, served, stored content.Objects, memory Memory) *Finalizer {
	return &Finalizer{objects: objects, served: served, stored: stored, memory: memory, gone: map[string]next{}}
}

// Name implements [controller.Controller].
func (c *Finalizer) Name() string { return "namespace" }

// Watches implements [controller.Controller].
func (c *Finalizer) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Namespaces}
}

// Workers implements [controller.Concurrent].
func (c *Finalizer) Workers() int { return 4 }

// Reconcile implements [controller.Controller].
func (c *Finalizer) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	obj, err := c.objects.Get(ctx, gvr.Namespaces, "", key.Name)
	if apierrors.IsNotFound(err) {
		q.Follow(key)
		return c.stragglers(ctx, q, key)
	}
	if err != nil {
		return err
	}
	var ns corev1.Namespace
	if err := gvr.Decode(obj, &ns); err != nil {
		return err
	}
	if ns.DeletionTimestamp == nil {
		q.Follow(key)
		return c.forget(ctx, key.Name)
	}
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		q.Follow(key) // it was let go: once nobody else holds it, what came late is looked for
		return nil
	}
	if ns.Status.Phase != corev1.NamespaceTerminating {
		ns.Status.Phase = corev1.NamespaceTerminating
		if obj, err = c.writeStatus(ctx, obj, &ns.Status); err != nil {
			return gvr.IgnoreNotFound(err)
		}
	}
	left, err := c.empty(ctx, &ns)
	if err != nil {
		return err
	}
	if setConditions(&ns.Status, left, metav1.Now()) {
		if obj, err = c.writeStatus(ctx, obj, &ns.Status); err != nil {
			return gvr.IgnoreNotFound(err)
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

// empty deletes everything in the namespace, pods first, and returns what is
// left of it.
func (c *Finalizer) empty(ctx context.Context, ns *corev1.Namespace) (*remains, error) {
	for {
		found, err := c.remaining(ctx, ns.Name)
		if err != nil || found.empty() {
			return found, err
		}
		if err := c.same(ctx, ns); err != nil {
			return nil, err
		}
		failures := found.failures
		failures = append(failures, found.delete(ctx)...)
		// While one kind was emptied another may have been filled, so all are
		// looked at again.
		left, err := c.remaining(ctx, ns.Name)
		if err != nil {
			return nil, err
		}
		if len(failures) > 0 {
			left.failures = failures
		}
		if len(failures) > 0 || !found.pods || left.pods {
			return left, nil
		}
	}
}

// same fails with a Conflict once ns is gone. What was listed before may then
// belong to another namespace of that name: this leader may have stood still while
// the next let ns go.
func (c *Finalizer) same(ctx context.Context, ns *corev1.Namespace) error {
	if err := c.objects.Fresh(ctx); err != nil {
		return err
	}
	now, err := c.objects.Get(ctx, gvr.Namespaces, "", ns.Name)
	if apierrors.IsNotFound(err) || err == nil && now.GetUID() != ns.UID {
		return apierrors.NewConflict(gvr.Namespaces, ns.Name, errors.New("the namespace that was being emptied is gone"))
	}
	return err
}

// remaining is what goes next of what was committed to the namespace before the
// call: nothing but pods while there are any, or while that is not known.
func (c *Finalizer) remaining(ctx context.Context, namespace string) (*remains, error) {
	if err := c.objects.Fresh(ctx); err != nil {
		return nil, err
	}
	r := &remains{}
	r.add(ctx, c.served, controller.Scope{GroupResource: gvr.Pods, Namespace: namespace})
	if !r.empty() {
		r.pods = true
		return r, nil
	}
	return c.everything(ctx, namespace)
}

// everything is what the cache and the store have in the namespace, of any kind. Custom
// resources are first: what their controllers have made goes after them, as else they would
// make it anew.
func (c *Finalizer) everything(ctx context.Context, namespace string) (*remains, error) {
	r := &remains{}
	served := map[schema.GroupResource]bool{}
	all := slices.Clone(c.objects.Served())
	slices.SortStableFunc(all, func(a, b *crd.Definition) int { return custom(b) - custom(a) })
	for _, d := range all {
		for _, group := range d.Groups() {
			served[schema.GroupResource{Group: group, Resource: d.Plural}] = true
		}
		if d.Namespaced {
			r.add(ctx, c.served, controller.Scope{GroupResource: d.GroupResource(), Namespace: namespace})
		}
	}
	defined, err := c.served.ListMetadata(ctx, gvr.Definitions, "")
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

// custom is 1 for a kind that an object in the store defines, which has a uid, and else 0.
func custom(d *crd.Definition) int { return min(len(d.UID), 1) }

// release removes the finalizer, with which the namespace goes unless it has
// others.
func (c *Finalizer) release(ctx context.Context, q controller.Queue, key controller.Key, obj *unstructured.Unstructured) error {
	spec := gvr.Section(obj, "spec")
	finalizers, _ := spec["finalizers"].([]any)
	spec["finalizers"] = slices.DeleteFunc(slices.Clone(finalizers), func(f any) bool {
		return f == string(corev1.FinalizerKubernetes)
	})
	obj.Object["spec"] = spec
	if err := c.memory.Keep(ctx, key.Name); err != nil {
		return err
	}
	c.lookAgain(q, key, 0) // before it can be gone, of which the reply may be lost
	if _, err := c.objects.Update(ctx, gvr.Namespaces, "finalize", obj); err != nil {
		return gvr.IgnoreNotFound(err)
	}
	q.Follow(key)
	return nil
}

// writeStatus writes a status and returns the object as it is then, which the
// next write has to be based on.
func (c *Finalizer) writeStatus(ctx context.Context, obj *unstructured.Unstructured, status *corev1.NamespaceStatus) (*unstructured.Unstructured, error) {
	if err := gvr.SetStatus(obj, status); err != nil {
		return nil, err
	}
	return c.objects.Update(ctx, gvr.Namespaces, "status", obj)
}
