package serviceaccount

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Making is what keeps an object in every namespace.
type Making interface {
	client.Getter
	client.Creator
	client.Updater
}

// Everywhere is a controller that keeps one object of a name in every namespace that is
// not going away.
type Everywhere struct {
	objects Making
	name    string // the controller's
	gr      schema.GroupResource
	object  string // the object's name
	wanted  func() *unstructured.Unstructured
	// mended changes an object that is there and should be otherwise; nil leaves what
	// is there alone.
	mended func(*unstructured.Unstructured) bool
}

var configMaps = schema.GroupResource{Resource: "configmaps"}

// NewDefaults makes the controller that keeps the account of pods that name none.
func NewDefaults(objects Making) *Everywhere {
	return &Everywhere{objects: objects, name: "default-account", gr: accounts, object: "default", wanted: func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount"}}
	}}
}

// Name implements [controller.Controller].
func (c *Everywhere) Name() string { return c.name }

// Watches implements [controller.Controller].
func (c *Everywhere) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Namespaces, c.gr}
}

// Resync implements [controller.Resyncing]: what went before it was followed makes no
// event.
func (c *Everywhere) Resync() time.Duration { return resync }

const resync = 10 * time.Minute

// Reconcile implements [controller.Controller].
func (c *Everywhere) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	if !c.concerns(key) {
		return nil
	}
	namespace := key.Name
	if key.GroupResource != gvr.Namespaces {
		namespace = key.Namespace
	}
	ns, err := c.objects.Get(ctx, gvr.Namespaces, "", namespace)
	if err != nil || ns.GetDeletionTimestamp() != nil {
		return gvr.IgnoreNotFound(err)
	}
	there, err := c.objects.Get(ctx, c.gr, namespace, c.object)
	switch {
	case apierrors.IsNotFound(err):
		err = c.make(ctx, namespace)
	case err == nil && c.mended != nil && c.mended(there):
		_, err = c.objects.Update(ctx, c.gr, "", there)
	}
	return gvr.IgnoreNotFound(err)
}

// concerns tells whether a key is a namespace, or what is kept in one.
func (c *Everywhere) concerns(key controller.Key) bool {
	return key.GroupResource == gvr.Namespaces || key.Name == c.object
}

func (c *Everywhere) make(ctx context.Context, namespace string) error {
	obj := c.wanted()
	obj.SetNamespace(namespace)
	obj.SetName(c.object)
	_, err := c.objects.Create(ctx, c.gr, obj)
	if apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}
