package controllertest

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Stored is what the store holds of custom resources, served or not. Built-in
// kinds are stored elsewhere.
type Stored struct{ o *Objects }

// Stored returns what the store holds.
func (o *Objects) Stored() Stored { return Stored{o} }

// Fresh does nothing: the store is always up to date.
func (s Stored) Fresh(context.Context) error { return nil }

// ListMetadata reads the metadata of the stored objects of a custom resource.
func (s Stored) ListMetadata(_ context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	if d := s.o.served[gr]; d != nil && d.UID == "" {
		return nil, nil
	}
	return metadataOf(s.o.stored, gr, namespace)
}

// Delete deletes a stored object; finalizers are honoured.
func (s Stored) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error {
	s.o.mu.Lock()
	d := s.o.served[gr]
	s.o.mu.Unlock()
	if d != nil && d.UID == "" {
		return apierrors.NewNotFound(gr, name)
	}
	return s.o.remove(ctx, gr, namespace, name, opts)
}
