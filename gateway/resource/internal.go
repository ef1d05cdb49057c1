package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Internal is the engine as the gateway's own controllers use it: the same
// verbs, at storage versions. Errors are the API's status errors; objects that
// are returned belong to the caller.
type Internal struct {
	e      *Engine
	caller Caller
}

// Internal returns the engine for a part of the gateway itself, which writes
// as caller.
func (e *Engine) Internal(caller Caller) Internal { return Internal{e, caller} }

// As returns the same for another part.
func (i Internal) As(caller Caller) Internal { return Internal{i.e, caller} }

func (i Internal) target(gr schema.GroupResource, namespace, name, subresource string) (Target, error) {
	r := i.e.catalog.Snapshot().Resource(gr)
	if r == nil {
		return Target{}, apierrors.NewNotFound(gr, name)
	}
	return Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion), Namespace: namespace, Name: name, Subresource: subresource}, nil
}

// cached is an object as the cache has it.
func (i Internal) cached(ctx context.Context, gr schema.GroupResource, namespace, name string) (Target, *catalog.Entry, error) {
	t, err := i.target(gr, namespace, name, "")
	if err != nil {
		return t, nil, err
	}
	entry, err := i.e.entry(ctx, t, "0")
	return t, entry, err
}

// Get reads an object at its storage version, from the cache.
func (i Internal) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	t, entry, err := i.cached(ctx, gr, namespace, name)
	if err != nil {
		return nil, err
	}
	return t.unstructured(ctx, entry)
}

// GetMetadata is Get without decoding more than the metadata; it never converts.
func (i Internal) GetMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	t, entry, err := i.cached(ctx, gr, namespace, name)
	if err != nil {
		return nil, err
	}
	data, err := t.Resource.MetadataView(entry)
	if err != nil {
		return nil, err
	}
	var m metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, t.Resource.Unreadable(entry, err)
	}
	return &m, nil
}

func (t Target) unstructured(ctx context.Context, e *catalog.Entry) (*unstructured.Unstructured, error) {
	data, err := t.Resource.View(ctx, e, t.Version.Name)
	if err != nil {
		return nil, err
	}
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, t.Resource.Unreadable(e, err)
	}
	return &unstructured.Unstructured{Object: tree}, nil
}

// List reads all objects of a kind ("" = in all namespaces) at their storage
// version, from the cache.
func (i Internal) List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error) {
	t, err := i.target(gr, namespace, "", "")
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	t.each(func(e *catalog.Entry) bool {
		var u *unstructured.Unstructured
		if u, err = t.unstructured(ctx, e); err == nil {
			out = append(out, u)
		}
		return err == nil
	})
	return out, err
}

// each visits the cached objects of the target's collection.
func (t Target) each(fn func(*catalog.Entry) bool) {
	t.items(func(_ string, e *catalog.Entry) bool { return fn(e) })
}

// items visits them with their keys.
func (t Target) items(fn func(key string, e *catalog.Entry) bool) {
	t.Resource.Bucket().Snapshot().Ascend(inNamespace(t.Namespace), "", func(it watchcache.Item[*catalog.Entry]) bool { return fn(it.Key, it.Value) })
}

// ListMetadata is List without decoding more than the metadata; it never converts
// and never fails on an unreadable object. Of an object whose metadata
// cannot be read only namespace and name are filled in, from its key.
func (i Internal) ListMetadata(_ context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	t, err := i.target(gr, namespace, "", "")
	if err != nil {
		return nil, err
	}
	var out []metav1.PartialObjectMetadata
	t.Resource.Bucket().Snapshot().Ascend(inNamespace(namespace), "", func(it watchcache.Item[*catalog.Entry]) bool {
		out = append(out, t.partial(it))
		return true
	})
	return out, nil
}

// inNamespace is how the keys in a namespace ("" = all) begin.
func inNamespace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return namespace + "/"
}

// partial is the metadata of an object as far as it can be read.
func (t Target) partial(it watchcache.Item[*catalog.Entry]) (m metav1.PartialObjectMetadata) {
	if data, err := t.Resource.MetadataView(it.Value); err != nil || json.Unmarshal(data, &m) != nil {
		m = metav1.PartialObjectMetadata{}
	}
	m.Namespace, m.Name = catalog.SplitKey(it.Key)
	return m
}

// maxRedefined bounds how often a write whose definition was replaced under it
// is repeated: more often than anybody changes a definition in that time.
const maxRedefined = 100

// again repeats a write whose definition was replaced under it.
func again[T any](write func() (T, error)) (out T, err error) {
	for range maxRedefined {
		if out, err = write(); !errors.Is(err, catalog.ErrReplaced) {
			return out, err
		}
	}
	return out, apierrors.NewInternalError(err)
}

// Create creates obj (at the storage version).
func (i Internal) Create(ctx context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	data, err := object.Encode(obj.Object)
	if err != nil {
		return nil, err
	}
	return written(again(func() (*Written, error) {
		t, err := i.target(gr, obj.GetNamespace(), "", "")
		if err != nil {
			return nil, err
		}
		return i.e.Create(ctx, t, data, WriteOptions{Caller: i.caller})
	}))
}

// Update writes obj through a subresource ("" = the object itself). The object's
// resourceVersion must be current, else it is a Conflict.
func (i Internal) Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	data, err := object.Encode(obj.Object)
	if err != nil {
		return nil, err
	}
	return written(again(func() (*Written, error) {
		t, err := i.target(gr, obj.GetNamespace(), obj.GetName(), subresource)
		if err != nil {
			return nil, err
		}
		return i.e.Update(ctx, t, data, WriteOptions{Caller: i.caller})
	}))
}

func written(w *Written, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	tree, _, err := object.Parse(w.Object)
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: tree}, nil
}

// Delete deletes like a client's DELETE; finalizers are honoured. It works on
// stored metadata and never converts.
func (i Internal) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, o metav1.DeleteOptions) error {
	_, err := again(func() (*Written, error) {
		t, err := i.target(gr, namespace, name, "")
		if err != nil {
			return nil, err
		}
		return i.e.Delete(ctx, t, &o, WriteOptions{Caller: i.caller, NoReply: true, DryRun: len(o.DryRun) > 0})
	})
	return err
}

// Follow calls fn for every object that exists and then for every change, in
// order, until ctx ends. It is level-triggered: fn gets names only. The kind has to
// be served when it begins; that it is redefined or removed afterwards changes
// nothing.
func (i Internal) Follow(ctx context.Context, gr schema.GroupResource, fn func(namespace, name string)) error {
	select {
	case <-i.e.Ready():
	case <-ctx.Done():
		return nil
	}
	t, err := i.target(gr, "", "", "")
	if err != nil {
		return err
	}
	for {
		s := t.Resource.Bucket().Snapshot()
		s.Ascend("", "", func(it watchcache.Item[*catalog.Entry]) bool {
			fn(catalog.SplitKey(it.Key))
			return ctx.Err() == nil
		})
		cursor, err := t.Resource.Bucket().Watch(s.Revision())
		for err == nil {
			var events []watchcache.Event[*catalog.Entry]
			if events, _, err = cursor.Next(ctx, maxChanges); err != nil {
				break
			}
			for _, ev := range events {
				fn(catalog.SplitKey(ev.Item.Key))
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		var x *watchcache.Expired
		if !errors.As(err, &x) {
			return fmt.Errorf("following %s: %w", gr, err)
		}
	}
}

// Fresh waits until the cache holds everything that was committed before the
// call.
func (i Internal) Fresh(ctx context.Context) error {
	_, err := i.e.cache.Fresh(ctx)
	return err
}

// Served returns the definitions that are served now.
func (i Internal) Served() []*crd.Definition { return i.e.catalog.Snapshot().Definitions }
