package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
)

// deleters is how many objects are deleted at a time. The store commits
// concurrent writes together, so a few at once cost little more than one.
const deleters = 8

// listContent lists what is in a scope; a kind that is no longer served has
// nothing.
func listContent(ctx context.Context, objects Objects, s Scope) ([]metav1.PartialObjectMetadata, error) {
	items, err := objects.ListMetadata(ctx, s.GroupResource, s.Namespace)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", s.GroupResource, err)
	}
	return items, nil
}

// deleteContent deletes those of items that are not being deleted yet, and
// returns what failed. An object that somebody replaced or removed meanwhile
// is no failure.
func deleteContent(ctx context.Context, objects Objects, s Scope, items []metav1.PartialObjectMetadata) []error {
	var (
		mu   sync.Mutex
		errs []error
	)
	workqueue.ParallelizeUntil(ctx, deleters, len(items), func(i int) {
		m := &items[i]
		if m.DeletionTimestamp != nil {
			return
		}
		err := objects.Delete(ctx, s.GroupResource, m.Namespace, m.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &m.UID},
		})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, fmt.Errorf("delete %s %s: %w", s.GroupResource, objectName(m), err))
	})
	if err := ctx.Err(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// sweep deletes everything in a scope and returns what is still there
// afterwards.
func sweep(ctx context.Context, objects Objects, s Scope) ([]metav1.PartialObjectMetadata, []error) {
	// Something created a moment ago may not be in the cache yet; after Fresh
	// it is.
	if err := objects.Fresh(ctx); err != nil {
		return nil, []error{err}
	}
	items, err := listContent(ctx, objects, s)
	if err != nil {
		return nil, []error{err}
	}
	if len(items) == 0 {
		return nil, nil
	}
	if errs := deleteContent(ctx, objects, s, items); len(errs) > 0 {
		return items, errs
	}
	if err := objects.Fresh(ctx); err != nil {
		return nil, []error{err}
	}
	if items, err = listContent(ctx, objects, s); err != nil {
		return nil, []error{err}
	}
	return items, nil
}

// countFinalizers adds up which finalizers hold items.
func countFinalizers(into map[string]int, items []metav1.PartialObjectMetadata) {
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

// sortedCounts renders counts with format (name, count), sorted by name.
func sortedCounts(counts map[string]int, format string) []string {
	parts := make([]string, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf(format, name, counts[name]))
	}
	return parts
}

// maxMessage bounds condition messages; the API allows 32 KiB.
const maxMessage = 4096

// shorten cuts a message that is too long for a condition.
func shorten(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "..."
}
