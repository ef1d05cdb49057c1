package write

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
)

var namespaces = schema.GroupResource{Resource: "namespaces"}

// admitCreate is the admission of creations: a namespaced object needs a
// namespace that exists and is not going away, and a custom resource a
// definition that stays.
func (e *Writer) admitCreate(ctx context.Context, t resource.Target, name string, dryRun bool) error {
	if t.Resource.Def.Terminating {
		return apierrors.NewForbidden(t.GroupResource(), name, fmt.Errorf("create not allowed while custom resource definition is terminating"))
	}
	if t.Namespace == "" || t.Resource.Def.Question() { // it may be asked about any
		return nil
	}
	entry, err := e.spaces.get(ctx, t.Namespace)
	if apierrors.IsNotFound(err) && e.o.ProvisionNamespaces && !dryRun {
		if why := e.provision(ctx, t.Namespace); why != nil {
			return apierrors.NewForbidden(t.GroupResource(), name, why)
		}
		entry, err = e.spaces.get(ctx, t.Namespace)
	}
	if err != nil {
		return err
	}
	ns := e.catalog.Snapshot().Resource(namespaces)
	meta, err := ns.Metadata(entry)
	if err != nil {
		return err
	}
	if object.Field(meta, "deletionTimestamp") == nil {
		return nil
	}
	forbidden := apierrors.NewForbidden(t.GroupResource(), name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", t.Namespace))
	forbidden.ErrStatus.Details.Causes = append(forbidden.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", t.Namespace), Field: "metadata.namespace",
	})
	return forbidden
}

// provision makes a namespace, if nobody else is faster.
func (e *Writer) provision(ctx context.Context, name string) error {
	body, err := object.Encode(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	if err != nil {
		return err
	}
	_, err = resource.Again(func() (*resource.Written, error) {
		r := e.catalog.Snapshot().Resource(namespaces)
		if r == nil {
			return nil, apierrors.NewNotFound(namespaces, name)
		}
		t := resource.Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion)}
		return e.Create(ctx, t, body, resource.WriteOptions{Caller: resource.Component("namespaces")})
	})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

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
