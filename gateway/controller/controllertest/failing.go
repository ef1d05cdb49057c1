package controllertest

import (
	"context"
	"errors"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrAway is what a call of [Failing] fails with unless the test says otherwise.
var ErrAway = errors.New("the store is away")

// Failing are objects one of whose calls fails. Its calls may be at the same time; its fields
// are set and read while there are none.
type Failing struct {
	Engine
	mu sync.Mutex // of Calls
	// Number is that of the call that fails, counted from 1; 0 for none.
	Number int
	// With is what it fails with; nil is [ErrAway].
	With error
	// Calls is how many there were.
	Calls int
}

func (f *Failing) hit() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Calls++; f.Calls != f.Number {
		return nil
	}
	if f.With != nil {
		return f.With
	}
	return ErrAway
}

// Get implements client.Getter.
func (f *Failing) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if err := f.hit(); err != nil {
		return nil, err
	}
	return f.Engine.Get(ctx, gr, namespace, name)
}

// GetMetadata implements client.MetadataGetter.
func (f *Failing) GetMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	if err := f.hit(); err != nil {
		return nil, err
	}
	return f.Engine.GetMetadata(ctx, gr, namespace, name)
}

// List implements client.Lister.
func (f *Failing) List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error) {
	if err := f.hit(); err != nil {
		return nil, err
	}
	return f.Engine.List(ctx, gr, namespace)
}

// ListMetadata implements client.MetadataLister.
func (f *Failing) ListMetadata(ctx context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	if err := f.hit(); err != nil {
		return nil, err
	}
	return f.Engine.ListMetadata(ctx, gr, namespace)
}

// Create implements client.Creator.
func (f *Failing) Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := f.hit(); err != nil {
		return nil, err
	}
	return f.Engine.Create(ctx, gr, obj)
}

// Update implements client.Updater.
func (f *Failing) Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := f.hit(); err != nil {
		return nil, err
	}
	return f.Engine.Update(ctx, gr, subresource, obj)
}

// Delete implements client.Deleter.
func (f *Failing) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, o metav1.DeleteOptions) error {
	if err := f.hit(); err != nil {
		return err
	}
	return f.Engine.Delete(ctx, gr, namespace, name, o)
}

// Fresh implements client.Freshener.
func (f *Failing) Fresh(ctx context.Context) error {
	if err := f.hit(); err != nil {
		return err
	}
	return f.Engine.Fresh(ctx)
}

// EachCallFails runs something in worlds of its own, in each of which another call fails,
// until none does. Each time that has to be told, unless all is done all the same, and another
// run in the same world has to mend what is left, which done checks; nil for nothing. fewest
// is how many calls there are at least.
func EachCallFails(t *testing.T, fewest int, world func() Engine, run func(f *Failing) error, done func(f *Failing) error) {
	t.Helper()
	for number := 1; ; number++ {
		f := &Failing{Engine: world(), Number: number}
		err := run(f)
		f.Number = 0 // only that one does
		if f.Calls < number {
			if err != nil || f.Calls < fewest {
				t.Errorf("%d calls, at least %d are expected: %v", f.Calls, fewest, err)
			}
			if done != nil && done(f) != nil {
				t.Errorf("when nothing fails: %v", done(f))
			}
			return
		}
		if !errors.Is(err, ErrAway) && (err != nil || done == nil || done(f) != nil) {
			t.Errorf("call %d fails and is not told: %v", number, err)
		}
		if err := run(f); err != nil {
			t.Errorf("again, after call %d failed: %v", number, err)
		}
		if done == nil {
			continue
		}
		if err := done(f); err != nil {
			t.Errorf("after call %d failed, and another run: %v", number, err)
		}
	}
}
