package resource

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
)

var namespaces = schema.GroupResource{Resource: "namespaces"}

// admitCreate is the admission of creations: a namespaced object needs a
// namespace that exists and is not going away, and a custom resource a
// definition that stays.
func (e *Engine) admitCreate(ctx context.Context, t Target, name string, dryRun bool) error {
	if t.Resource.Def.Terminating {
		return apierrors.NewForbidden(t.GroupResource(), name, fmt.Errorf("create not allowed while custom resource definition is terminating"))
	}
	if t.Namespace == "" || t.Resource.Def.Question() { // it may be asked about any
		return nil
	}
	entry, err := e.namespace(ctx, t.Namespace)
	if apierrors.IsNotFound(err) && e.o.ProvisionNamespaces && !dryRun {
		if why := e.provision(ctx, t.Namespace); why != nil {
			return apierrors.NewForbidden(t.GroupResource(), name, why)
		}
		entry, err = e.namespace(ctx, t.Namespace)
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
func (e *Engine) provision(ctx context.Context, name string) error {
	body, err := object.Encode(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	if err != nil {
		return err
	}
	_, err = Again(func() (*Written, error) {
		r := e.catalog.Snapshot().Resource(namespaces)
		if r == nil {
			return nil, apierrors.NewNotFound(namespaces, name)
		}
		t := Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion)}
		return e.Create(ctx, t, body, WriteOptions{Caller: Component("namespaces")})
	})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// namespace finds a namespace in the cache, or in the store when it may be too
// new for the cache: a namespace that is being deleted takes nothing any more
// from the moment on that its deletion is acknowledged.
func (e *Engine) namespace(ctx context.Context, name string) (*view.Entry, error) {
	r := e.catalog.Snapshot().Resource(namespaces)
	if r == nil {
		return nil, apierrors.NewNotFound(namespaces, name)
	}
	if e.cache.Revision() >= e.spaced.Load() {
		if it, ok := r.Bucket().Snapshot().Get(name); ok {
			return it.Value, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	kv, err := e.store.Get(ctx, r.Key("", name))
	if err != nil {
		return nil, Target{Resource: r, Name: name}.storeError(err)
	}
	return view.NewEntry(kv), nil
}

// noteNamespace remembers the revision of a change of a namespace.
func (e *Engine) noteNamespace(r *catalog.Resource, revision int64) {
	if r.GroupResource() != namespaces {
		return
	}
	for {
		last := e.spaced.Load()
		if last >= revision || e.spaced.CompareAndSwap(last, revision) {
			return
		}
	}
}
