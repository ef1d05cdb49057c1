// Package plugin owns the admission plugins that no object configures, each in the file
// of its name; LimitRanger and ResourceQuota have folders below.
//
// It must not know who stores or serves objects: what a plugin looks up it is given.
package plugin

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Reader reads objects at their storage versions, from a cache. Objects belong to the
// caller.
type Reader interface {
	// Get reads an object; a NotFound status error when there is none.
	Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error)
	// List reads the objects of a namespace ("" = of all).
	List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error)
	// Fresh waits until the cache has all that was written before the call.
	Fresh(ctx context.Context) error
}
