package controllertest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
)

// Engine is everything that controllers use of the engine: the union of the
// interfaces that they declare. [RunEngine] says how it behaves.
type Engine interface {
	Reader
	Writer
	Follower
}

// Reader reads objects at their storage version, from a cache.
type Reader interface {
	// Get reads one object.
	Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error)
	// GetMetadata reads its metadata.
	GetMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string) (*metav1.PartialObjectMetadata, error)
	// List reads the objects of a kind.
	List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error)
	// ListMetadata reads their metadata.
	ListMetadata(ctx context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error)
	// Served returns what is served.
	Served() []*crd.Definition
}

// Writer writes objects like a client.
type Writer interface {
	// Create creates an object.
	Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Update writes an object through a subresource.
	Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Delete deletes an object.
	Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error
}

// Follower tells of changes.
type Follower interface {
	// Follow calls fn for what exists and for every change.
	Follow(ctx context.Context, gr schema.GroupResource, fn func(namespace, name string)) error
	// Fresh waits until reads see everything that was committed before.
	Fresh(ctx context.Context) error
}
