// Package client owns what controllers and other parts of the gateway ask of the
// engine for themselves, as interfaces of one method each: a part composes those
// that it calls. Errors are the API's status errors
// (k8s.io/apimachinery/pkg/api/errors); objects that are returned belong to the
// caller. gateway/resource/local is the engine so seen.
//
// It must not know who asks, nor the engine.
package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
)

// Getter reads one object.
type Getter interface {
	// Get reads an object at its storage version, from the cache; a NotFound when
	// there is none.
	Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error)
}

// MetadataGetter reads the metadata of one object.
type MetadataGetter interface {
	// GetMetadata reads the metadata of an object, from the cache. It never
	// converts.
	GetMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string) (*metav1.PartialObjectMetadata, error)
}

// Lister reads many objects.
type Lister interface {
	// List reads all objects of a kind ("" = in all namespaces) at their storage
	// version, from the cache.
	List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error)
}

// MetadataLister reads the metadata of many objects.
type MetadataLister interface {
	// ListMetadata reads the metadata of all objects of a kind ("" = in all
	// namespaces), from the cache. It never converts and never fails on an
	// unreadable object.
	ListMetadata(ctx context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error)
}

// Creator creates objects.
type Creator interface {
	// Create creates obj (at the storage version), like a client's POST.
	Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
}

// Updater replaces objects.
type Updater interface {
	// Update writes obj through a subresource ("" = the object itself). The
	// object's resourceVersion must be current, else it is a Conflict.
	Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
}

// MergePatcher changes parts of objects.
type MergePatcher interface {
	// MergePatch changes an object (at the storage version) by a JSON merge patch, like
	// a client's PATCH.
	MergePatch(ctx context.Context, gr schema.GroupResource, namespace, name string, patch map[string]any) error
}

// MetadataUpdater takes away what holds objects up.
type MetadataUpdater interface {
	// UpdateMetadata changes the metadata of the object that p means, without
	// converting it. change may be called several times, and only takes away
	// finalizers and owner references, or weakens these.
	UpdateMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string, p metav1.Preconditions, change func(metav1.Object)) error
}

// Deleter deletes objects.
type Deleter interface {
	// Delete deletes like a client's DELETE; finalizers are honoured. It works
	// on stored metadata and never converts.
	Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error
}

// Follower tells of changes.
type Follower interface {
	// Follow calls fn for every object that exists and then for every change,
	// in order, until ctx ends. It is level-triggered: fn gets names only.
	// Without a name it says that objects may have gone of which it told nothing:
	// once what exists has been told, and after history was lost.
	Follow(ctx context.Context, gr schema.GroupResource, fn func(namespace, name string)) error
}

// Freshener makes reads recent.
type Freshener interface {
	// Fresh waits until the cache holds everything that was committed before
	// the call.
	Fresh(ctx context.Context) error
}

// Catalog tells what is served.
type Catalog interface {
	// Served returns the definitions that are served now. They are shared and
	// not to be changed.
	Served() []*crd.Definition
}
