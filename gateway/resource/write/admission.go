package write

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
)

var namespaces = schema.GroupResource{Resource: "namespaces"}

// spaces finds namespaces, also those that this gateway has just changed.
type spaces struct {
	store   storage.Store
	catalog *catalog.Catalog
	// changed is the revision of the last change that was made here.
	changed atomic.Int64
}

// get finds a namespace in the cache, or in the store when it may be too
// new for the cache: a namespace that is being deleted takes nothing any more
// from the moment on that its deletion is acknowledged.
func (s *spaces) get(ctx context.Context, name string) (*view.Entry, error) {
	r := s.catalog.Snapshot().Resource(namespaces)
	if r == nil {
		return nil, apierrors.NewNotFound(namespaces, name)
	}
	if s.catalog.Cache().Revision() >= s.changed.Load() {
		if it, ok := r.Bucket().Snapshot().Get(name); ok {
			return it.Value, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	kv, err := s.store.Get(ctx, r.Key("", name))
	if err != nil {
		return nil, resource.Target{Resource: r, Name: name}.StoreError(err)
	}
	return view.NewEntry(kv), nil
}

// note remembers the revision of a change, if it is one of a namespace.
func (s *spaces) note(r *catalog.Resource, revision int64) {
	if r.GroupResource() != namespaces {
		return
	}
	for {
		last := s.changed.Load()
		if last >= revision || s.changed.CompareAndSwap(last, revision) {
			return
		}
	}
}

// IsNamespaceTerminating implements [admission.Namespaces].
func (w attributes) IsNamespaceTerminating(ctx context.Context, name string) (bool, error) {
	entry, err := w.writer.spaces.get(ctx, name)
	if err != nil {
		return false, err
	}
	meta, err := w.writer.catalog.Snapshot().Resource(namespaces).Metadata(entry)
	return err == nil && object.Field(meta, "deletionTimestamp") != nil, err
}

// GetNamespaceLabels implements [admission.Namespaces].
func (w attributes) GetNamespaceLabels(ctx context.Context, name string) (labels.Set, error) {
	entry, err := w.writer.spaces.get(ctx, name)
	if err != nil {
		return nil, err
	}
	return w.writer.catalog.Snapshot().Resource(namespaces).Labels(entry)
}

// GetNamespaceObject implements [admission.Namespaces].
func (w attributes) GetNamespaceObject(ctx context.Context, name string) (*corev1.Namespace, error) {
	entry, err := w.writer.spaces.get(ctx, name)
	if err != nil {
		return nil, err
	}
	r := w.writer.catalog.Snapshot().Resource(namespaces)
	data, err := r.View(ctx, entry, r.Def.StorageVersion)
	if err != nil {
		return nil, err
	}
	out := &corev1.Namespace{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, r.Unreadable(entry, err)
	}
	return out, nil
}
