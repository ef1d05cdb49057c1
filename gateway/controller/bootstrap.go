package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SystemNamespaces exist in every cluster.
var SystemNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// Bootstrap keeps the system namespaces in existence.
type Bootstrap struct {
	objects Objects
}

// NewBootstrap returns the controller.
func NewBootstrap(objects Objects) *Bootstrap { return &Bootstrap{objects: objects} }

// Name implements [Controller].
func (c *Bootstrap) Name() string { return "bootstrap" }

// Watches implements [Controller].
func (c *Bootstrap) Watches() []schema.GroupResource {
	return []schema.GroupResource{NamespaceResource}
}

// Seeds implements [Seeded].
func (c *Bootstrap) Seeds() []Key {
	keys := make([]Key, len(SystemNamespaces))
	for i, name := range SystemNamespaces {
		keys[i] = Key{GroupResource: NamespaceResource, Name: name}
	}
	return keys
}

// Resync implements [Resyncing]: a namespace that went before it was followed
// makes no event.
func (c *Bootstrap) Resync() time.Duration { return recheck }

// Reconcile implements [Controller].
func (c *Bootstrap) Reconcile(ctx context.Context, _ Queue, key Key) error {
	if !slices.Contains(SystemNamespaces, key.Name) {
		return nil
	}
	return ensureNamespace(ctx, c.objects, key.Name)
}

// EnsureSystemNamespaces creates the system namespaces that are missing. The
// gateway calls it before it says that it is ready.
func EnsureSystemNamespaces(ctx context.Context, objects Objects) error {
	for _, name := range SystemNamespaces {
		if err := ensureNamespace(ctx, objects, name); err != nil {
			return err
		}
	}
	return nil
}

func ensureNamespace(ctx context.Context, objects Objects, name string) error {
	_, err := objects.Get(ctx, NamespaceResource, "", name)
	if !apierrors.IsNotFound(err) {
		return err
	}
	ns := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
	if _, err = objects.Create(ctx, NamespaceResource, ns); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %q: %w", name, err)
	}
	return nil
}
