package controllertest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/content"
)

// Seat is the world as one leader sees and changes it. Its calls, and no others,
// meet what a [Story] has in store.
type Seat struct {
	*Objects
	// call says what a call fails with, or that it does not.
	call func() error
	// write makes one write, or lets it fail.
	write func(ctx context.Context, key controller.Key, commit func() error) error
}

// commit is a call that writes.
func (s *Seat) commit(ctx context.Context, key controller.Key, commit func() error) error {
	if err := s.call(); err != nil {
		return err
	}
	return s.write(ctx, key, commit)
}

// Create creates an object.
func (s *Seat) Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (made *unstructured.Unstructured, err error) {
	err = s.commit(ctx, keyOf(gr, obj), func() (err error) {
		made, err = s.Objects.Create(ctx, gr, obj)
		return err
	})
	return made, err
}

// Update writes an object through a subresource.
func (s *Seat) Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (now *unstructured.Unstructured, err error) {
	err = s.commit(ctx, keyOf(gr, obj), func() (err error) {
		now, err = s.Objects.Update(ctx, gr, subresource, obj)
		return err
	})
	return now, err
}

// Delete deletes an object.
func (s *Seat) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error {
	return s.commit(ctx, controller.Key{GroupResource: gr, Namespace: namespace, Name: name}, func() error {
		return s.Objects.Delete(ctx, gr, namespace, name, opts)
	})
}

// UpdateMetadata changes the metadata of an object.
func (s *Seat) UpdateMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string, p metav1.Preconditions, change func(metav1.Object)) error {
	return s.commit(ctx, controller.Key{GroupResource: gr, Namespace: namespace, Name: name}, func() error {
		return s.Objects.UpdateMetadata(ctx, gr, namespace, name, p, change)
	})
}

// Meet does what a leader does beside its writes and takes a while, as asking somebody:
// what a [Story] has in store comes then, too.
func (s *Seat) Meet(ctx context.Context, do func() error) error {
	return s.write(ctx, controller.Key{}, do)
}

// Get reads an object from the cache.
func (s *Seat) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	return s.Objects.Get(ctx, gr, namespace, name)
}

// GetMetadata reads the metadata of an object from the cache.
func (s *Seat) GetMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	return s.Objects.GetMetadata(ctx, gr, namespace, name)
}

// List reads the objects of a kind from the cache.
func (s *Seat) List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	return s.Objects.List(ctx, gr, namespace)
}

// ListMetadata reads the metadata of the objects of a kind from the cache.
func (s *Seat) ListMetadata(ctx context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	return s.Objects.ListMetadata(ctx, gr, namespace)
}

// Visit calls fn for the objects of a kind in the cache.
func (s *Seat) Visit(ctx context.Context, gr schema.GroupResource, namespace string, fn func(name string, revision int64, read func() (*unstructured.Unstructured, error)) error) error {
	if err := s.call(); err != nil {
		return err
	}
	return s.Objects.Visit(ctx, gr, namespace, fn)
}

// Ownership reads who owns an object.
func (s *Seat) Ownership(ctx context.Context, gr schema.GroupResource, namespace, name string, live bool) (*metav1.ObjectMeta, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	return s.Objects.Ownership(ctx, gr, namespace, name, live)
}

// Kinds returns the definitions that are served.
func (s *Seat) Kinds(ctx context.Context) ([]*crd.Definition, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	return s.Objects.Kinds(ctx)
}

// Fresh lets the cache catch up.
func (s *Seat) Fresh(ctx context.Context) error {
	if err := s.call(); err != nil {
		return err
	}
	return s.Objects.Fresh(ctx)
}

// InStore is what the store holds of custom resources, for this leader.
func (s *Seat) InStore() content.Objects { return storedSeat{s.Stored(), s} }

type storedSeat struct {
	Stored
	seat *Seat
}

func (s storedSeat) ListMetadata(ctx context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	if err := s.seat.call(); err != nil {
		return nil, err
	}
	return s.Stored.ListMetadata(ctx, gr, namespace)
}

func (s storedSeat) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error {
	return s.seat.commit(ctx, controller.Key{GroupResource: gr, Namespace: namespace, Name: name}, func() error {
		return s.Stored.Delete(ctx, gr, namespace, name, opts)
	})
}

func keyOf(gr schema.GroupResource, obj *unstructured.Unstructured) controller.Key {
	return controller.Key{GroupResource: gr, Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
