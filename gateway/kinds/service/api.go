package service

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// kubernetes is what the service of the API is called, and what goes with it.
const kubernetes = "kubernetes"

// API keeps the service default/kubernetes in existence, by which pods find the
// API.
type API struct {
	objects Objects
	config  Config
	port    int64
}

// NewAPI makes the controller; port is the one that the API is served at.
func NewAPI(objects Objects, c Config, port int) *API { return &API{objects, c, int64(port)} }

// Name implements [controller.Controller].
func (c *API) Name() string { return "api-service" }

// Watches implements [controller.Controller].
func (c *API) Watches() []schema.GroupResource { return []schema.GroupResource{services} }

// Seeds implements [controller.Seeded].
func (c *API) Seeds() []controller.Key {
	return []controller.Key{{GroupResource: services, Namespace: "default", Name: kubernetes}}
}

// Resync implements [controller.Resyncing]: what went before it was followed
// makes no event.
func (c *API) Resync() time.Duration { return 10 * time.Second }

// Reconcile implements [controller.Controller].
func (c *API) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	if key.Namespace != "default" || key.Name != kubernetes {
		return nil
	}
	if err := c.objects.Fresh(ctx); err != nil { // what another pass made may be news
		return err
	}
	_, err := c.objects.Get(ctx, services, key.Namespace, key.Name)
	if !apierrors.IsNotFound(err) {
		return err
	}
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{
			"name": key.Name, "namespace": key.Namespace, "labels": map[string]any{"component": "apiserver", "provider": "kubernetes"},
		},
		"spec": map[string]any{
			"clusterIP": nth(c.config.Addresses[0], 1).String(),
			"ports":     []any{map[string]any{"name": "https", "port": int64(443), "protocol": "TCP", "targetPort": c.port}},
		},
	}}
	if _, err := c.objects.Create(ctx, services, service); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the service of the API: %w", err)
	}
	return nil
}
