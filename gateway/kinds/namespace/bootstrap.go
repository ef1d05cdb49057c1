package namespace

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/controller/content"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Creator makes namespaces.
type Creator interface {
	client.Getter
	client.Creator
}

// System exist in every cluster.
var System = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// Bootstrap keeps the system namespaces in existence.
type Bootstrap struct {
	objects Creator
}

// NewBootstrap returns the controller.
func NewBootstrap(objects Creator) *Bootstrap { return &Bootstrap{objects: objects} }

// Name implements [controller.Controller].
func (c *Bootstrap) Name() string { return "bootstrap" }

// Watches implements [controller.Controller].
func (c *Bootstrap) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Namespaces}
}

// Seeds implements [controller.Seeded].
func (c *Bootstrap) Seeds() []controller.Key {
	keys := make([]controller.Key, len(System))
	for i, name := range System {
		keys[i] = controller.Key{GroupResource: gvr.Namespaces, Name: name}
	}
	return keys
}

// Resync implements [controller.Resyncing]: a namespace that went before it was followed
// makes no event.
func (c *Bootstrap) Resync() time.Duration { return content.Recheck }

// Reconcile implements [controller.Controller].
func (c *Bootstrap) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	if !slices.Contains(System, key.Name) {
		return nil
	}
	return ensureNamespace(ctx, c.objects, key.Name)
}

// EnsureSystem creates the system namespaces that are missing. The
// gateway calls it before it says that it is ready.
func EnsureSystem(ctx context.Context, objects Creator) error {
	for _, name := range System {
		if err := ensureNamespace(ctx, objects, name); err != nil {
			return err
		}
	}
	return nil
}

func ensureNamespace(ctx context.Context, objects Creator, name string) error {
	_, err := objects.Get(ctx, gvr.Namespaces, "", name)
	if !apierrors.IsNotFound(err) {
		return err
	}
	ns := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
	if _, err = objects.Create(ctx, gvr.Namespaces, ns); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %q: %w", name, err)
	}
	return nil
}
