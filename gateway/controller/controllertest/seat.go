package controllertest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/content"
)

// Seat is the world as one leader sees and changes it. Its writes, and no others,
// meet what a [Story] has in store.
type Seat struct {
	*Objects
	// write makes one write, or lets it fail.
	write func(ctx context.Context, key controller.Key, commit func() error) error
}

// Create creates an object.
func (s *Seat) Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (made *unstructured.Unstructured, err error) {
	err = s.write(ctx, keyOf(gr, obj), func() (err error) {
		made, err = s.Objects.Create(ctx, gr, obj)
		return err
	})
	return made, err
}

// Update writes an object through a subresource.
func (s *Seat) Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (now *unstructured.Unstructured, err error) {
	err = s.write(ctx, keyOf(gr, obj), func() (err error) {
		now, err = s.Objects.Update(ctx, gr, subresource, obj)
		return err
	})
	return now, err
}

// Delete deletes an object.
func (s *Seat) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error {
	return s.write(ctx, controller.Key{GroupResource: gr, Namespace: namespace, Name: name}, func() error {
		return s.Objects.Delete(ctx, gr, namespace, name, opts)
	})
}

// UpdateMetadata changes the metadata of an object.
func (s *Seat) UpdateMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string, p metav1.Preconditions, change func(metav1.Object)) error {
	return s.write(ctx, controller.Key{GroupResource: gr, Namespace: namespace, Name: name}, func() error {
		return s.Objects.UpdateMetadata(ctx, gr, namespace, name, p, change)
	})
}

// Meet does what a leader does beside its writes and takes a while, as asking somebody:
// what a [Story] has in store comes then, too.
func (s *Seat) Meet(ctx context.Context, do func() error) error {
	return s.write(ctx, controller.Key{}, do)
}

// InStore is what the store holds of custom resources, for this leader.
func (s *Seat) InStore() content.Objects { return storedSeat{s.Stored(), s} }

type storedSeat struct {
	Stored
	seat *Seat
}

func (s storedSeat) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error {
	return s.seat.write(ctx, controller.Key{GroupResource: gr, Namespace: namespace, Name: name}, func() error {
		return s.Stored.Delete(ctx, gr, namespace, name, opts)
	})
}

func keyOf(gr schema.GroupResource, obj *unstructured.Unstructured) controller.Key {
	return controller.Key{GroupResource: gr, Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
