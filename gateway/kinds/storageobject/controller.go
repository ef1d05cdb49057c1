package storageobject

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
)

// Objects are what is protected and who uses it.
type Objects interface {
	client.Getter
	client.Lister
	client.MetadataUpdater
	client.Freshener
}

// Controller lets go of what is being deleted and not in use, of one kind.
type Controller struct {
	objects Objects
	kind    schema.GroupResource
}

// NewController makes the controller of [Claims], [Volumes] or [Classes]. It runs in
// one gateway.
func NewController(objects Objects, kind schema.GroupResource) *Controller {
	return &Controller{objects, kind}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return c.kind.Resource + "-protection" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource {
	return []schema.GroupResource{c.kind}
}

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	k := protected[key.GroupResource]
	obj, err := c.objects.Get(ctx, key.GroupResource, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		q.Follow(key)
		return nil
	}
	if err != nil {
		return err
	}
	if obj.GetDeletionTimestamp() == nil || !slices.Contains(obj.GetFinalizers(), k.finalizer) {
		q.Follow(key)
		return nil
	}
	if k.holds != nil && k.holds(obj.Object) {
		return nil // its own change calls again
	}
	used, err := c.used(ctx, k, obj)
	if err != nil {
		return err
	}
	if used {
		q.Follow(key, scopes(k, key.Namespace)...)
		return nil
	}
	q.Follow(key)
	return c.release(ctx, key, k, obj)
}

// used looks whether anybody uses an object, at no earlier state than that of
// the call.
func (c *Controller) used(ctx context.Context, k kind, obj *unstructured.Unstructured) (bool, error) {
	if err := c.objects.Fresh(ctx); err != nil {
		return false, err
	}
	for gr, uses := range k.users {
		all, err := c.objects.List(ctx, gr, obj.GetNamespace())
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(all, func(user *unstructured.Unstructured) bool { return uses(user, obj) }) {
			return true, nil
		}
	}
	return false, nil
}

// release takes the finalizer away if the object is still as it was looked at.
func (c *Controller) release(ctx context.Context, key controller.Key, k kind, obj *unstructured.Unstructured) error {
	uid, revision := obj.GetUID(), obj.GetResourceVersion()
	err := c.objects.UpdateMetadata(ctx, key.GroupResource, key.Namespace, key.Name, metav1.Preconditions{UID: &uid, ResourceVersion: &revision}, func(o metav1.Object) {
		o.SetFinalizers(slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == k.finalizer }))
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// scopes are where those are that may use an object of a kind.
func scopes(k kind, namespace string) []controller.Scope {
	var out []controller.Scope
	for gr := range k.users {
		out = append(out, controller.Scope{GroupResource: gr, Namespace: namespace})
	}
	return out
}
