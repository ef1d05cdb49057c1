// Package content owns the emptying of a scope: every object of a kind, in one
// namespace or in all, is found and deleted by its stored metadata.
//
// It must not know why something is emptied, nor how objects convert.
package content

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
)

// Objects is what can be emptied. Errors are the API's status errors.
type Objects interface {
	client.MetadataLister
	client.Deleter
	client.Freshener
}

// Recheck is how often something that holds up a deletion is looked at again
// without being told of a change.
const Recheck = 5 * time.Second

// deleters is how many objects are deleted at a time. The store commits
// concurrent writes together, so a few at once cost little more than one.
const deleters = 8

// List lists what is in a scope; a kind that is no longer served has
// nothing.
func List(ctx context.Context, objects Objects, s controller.Scope) ([]metav1.PartialObjectMetadata, error) {
	items, err := objects.ListMetadata(ctx, s.GroupResource, s.Namespace)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", s.GroupResource, err)
	}
	return items, nil
}

// Delete deletes those of items that are not being deleted yet, and
// returns what failed, in the order of their names. An object that somebody replaced or
// removed meanwhile is no failure.
func Delete(ctx context.Context, objects Objects, s controller.Scope, items []metav1.PartialObjectMetadata) []error {
	var (
		mu     sync.Mutex
		failed = map[string]error{}
	)
	workqueue.ParallelizeUntil(ctx, deleters, len(items), func(i int) {
		m := &items[i]
		if m.DeletionTimestamp != nil {
			return
		}
		background := metav1.DeletePropagationBackground // dependents in the scope go anyway
		err := objects.Delete(ctx, s.GroupResource, m.Namespace, m.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &m.UID}, PropagationPolicy: &background,
		})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		name := objectName(m)
		failed[name] = fmt.Errorf("delete %s %s: %w", s.GroupResource, name, err)
	})
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		errs = append(errs, failed[name])
	}
	if err := ctx.Err(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// Sweep deletes everything in a scope and returns what is still there
// afterwards. It deletes nothing when mine fails, which is called once it is known
// what that is: whoever stood still meanwhile may have listed what belongs to
// another that took the place of what is emptied.
func Sweep(ctx context.Context, objects Objects, s controller.Scope, mine func(context.Context) error) ([]metav1.PartialObjectMetadata, []error) {
	// Something created a moment ago may not be in the cache yet; after Fresh
	// it is.
	if err := objects.Fresh(ctx); err != nil {
		return nil, []error{err}
	}
	items, err := List(ctx, objects, s)
	if err != nil {
		return nil, []error{err}
	}
	if len(items) == 0 {
		return nil, nil
	}
	if err := mine(ctx); err != nil {
		return items, []error{err}
	}
	if errs := Delete(ctx, objects, s, items); len(errs) > 0 {
		return items, errs
	}
	if err := objects.Fresh(ctx); err != nil {
		return nil, []error{err}
	}
	if items, err = List(ctx, objects, s); err != nil {
		return nil, []error{err}
	}
	return items, nil
}

// CountFinalizers adds up which finalizers hold items.
func CountFinalizers(into map[string]int, items []metav1.PartialObjectMetadata) {
	for i := range items {
		for _, f := range items[i].Finalizers {
			into[f]++
		}
	}
}

func objectName(m *metav1.PartialObjectMetadata) string {
	if m.Namespace == "" {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}

// SortedCounts renders counts with format (name, count), sorted by name.
func SortedCounts(counts map[string]int, format string) []string {
	parts := make([]string, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf(format, name, counts[name]))
	}
	return parts
}
