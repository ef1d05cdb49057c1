package read

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// Bounds that tests go beyond.
const (
	DeepBatch  = deepBatch
	MaxChanges = maxChanges

	MostInterests = mostInterests
)

// Entry is what a get reads.
func (e *Reader) Entry(ctx context.Context, t resource.Target, resourceVersion string) (*view.Entry, error) {
	return e.entry(ctx, t, resourceVersion)
}

// ListPast lists from the store's history, whatever the cache still has.
func (e *Reader) ListPast(ctx context.Context, t resource.Target, o *internalversion.ListOptions) (*resource.List, error) {
	l, err := newListing(t, o)
	if err != nil {
		return nil, err
	}
	return e.listHistory(ctx, l)
}

// GoesOn is after which key, and at which revision, a list is told to go on.
func GoesOn(t resource.Target, o *internalversion.ListOptions) (after string, exact int64, err error) {
	l, err := newListing(t, o)
	if err != nil {
		return "", 0, err
	}
	return l.after, l.exact, nil
}

// Interests are what a watch is woken for; none for everything.
func Interests(t resource.Target, o *internalversion.ListOptions) ([]catalog.Interest, error) {
	s, err := newSelection(t, o)
	if err != nil {
		return nil, err
	}
	return s.interests(t.Namespace), nil
}
