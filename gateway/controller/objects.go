// Package controller owns the gateway's background work: it makes the world
// match what API objects ask for (custom resource definitions, namespaces,
// modules, migrations).
//
// Controllers see objects only through [Objects], which is the same engine
// that serves clients, so there is one write path. They must not know HTTP,
// the store or the Wasm runtime.
package controller

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Objects is the engine as controllers use it. Errors are the API's status
// errors (k8s.io/apimachinery/pkg/api/errors). Objects that are returned
// belong to the caller.
type Objects interface {
	// Get reads an object at its storage version, from the cache.
	Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error)
	// List reads all objects of a kind ("" = in all namespaces) at their
	// storage version, from the cache.
	List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error)
	// ListMetadata is List without decoding more than the metadata; it never
	// converts and never fails on an unreadable object.
	ListMetadata(ctx context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error)
	// Create creates obj (at the storage version).
	Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Update writes obj through a subresource ("" = the object itself). The
	// object's resourceVersion must be current, else it is a Conflict.
	Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Delete deletes like a client's DELETE; finalizers are honoured. It works
	// on stored metadata and never converts.
	Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error
	// Follow calls fn for every object that exists and then for every change,
	// in order, until ctx ends. It is level-triggered: fn gets names only.
	Follow(ctx context.Context, gr schema.GroupResource, fn func(namespace, name string)) error
	// Fresh waits until the cache holds everything that was committed before
	// the call.
	Fresh(ctx context.Context) error
	// Served lists the resources that are served now, with their scope.
	Served() []ServedResource
}

// ServedResource is one kind that is served.
type ServedResource struct {
	GroupResource schema.GroupResource
	Namespaced    bool
	// Version is the storage version.
	Version string
	Kind    string
}
