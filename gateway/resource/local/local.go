// Package local owns the engine as the gateway's own parts use it: the verbs of
// clients at storage versions, in the name of a part, with reads from the cache.
// It declares what such parts ask for as interfaces of one method, which each
// part composes.
//
// It must not know what any of them does, nor HTTP. How a write goes is the
// engine's.
package local

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Client is the engine for a part of the gateway itself: the same verbs, at
// storage versions. Errors are the API's status errors; objects that are
// returned belong to the caller.
type Client struct {
	e      *engine.Engine
	caller resource.Caller
}

// New returns the engine for a part that writes as caller.
func New(e *engine.Engine, caller resource.Caller) Client { return Client{e, caller} }

// Part returns the engine for the part of the gateway of that name.
func Part(e *engine.Engine, name string) Client { return New(e, resource.Component(name)) }

// As returns the same for another part.
func (c Client) As(caller resource.Caller) Client { return Client{c.e, caller} }

func (c Client) target(gr schema.GroupResource, namespace, name, subresource string) (resource.Target, error) {
	r := c.e.Catalog().Snapshot().Resource(gr)
	if r == nil {
		return resource.Target{}, apierrors.NewNotFound(gr, name)
	}
	return resource.Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion), Namespace: namespace, Name: name, Subresource: subresource}, nil
}

// cached is an object as the cache has it.
func (c Client) cached(ctx context.Context, gr schema.GroupResource, namespace, name string) (resource.Target, *view.Entry, error) {
	t, err := c.target(gr, namespace, name, "")
	if err != nil {
		return t, nil, err
	}
	entry, err := c.e.State(ctx, t, false)
	return t, entry, err
}

// Get reads an object at its storage version, from the cache.
func (c Client) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	t, entry, err := c.cached(ctx, gr, namespace, name)
	if err != nil {
		return nil, err
	}
	return decoded(ctx, t, entry)
}

// GetMetadata is Get without decoding more than the metadata; it never converts.
func (c Client) GetMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	t, entry, err := c.cached(ctx, gr, namespace, name)
	if err != nil {
		return nil, err
	}
	o, err := t.Resource.Object(ctx, entry, encoding.MetadataOnly())
	if err != nil {
		return nil, err
	}
	var m metav1.PartialObjectMetadata
	if err := json.Unmarshal(o.Bytes(), &m); err != nil {
		return nil, t.Resource.Unreadable(entry, err)
	}
	return &m, nil
}

// decoded is an object at the version of the target.
func decoded(ctx context.Context, t resource.Target, e *view.Entry) (*unstructured.Unstructured, error) {
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
func (c Client) List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error) {
	t, err := c.target(gr, namespace, "", "")
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	each(t, func(it watchcache.Item[*view.Entry]) bool {
		var u *unstructured.Unstructured
		if u, err = decoded(ctx, t, it.Value); err == nil {
			out = append(out, u)
		}
		return err == nil
	})
	return out, err
}

// each visits the cached objects of the target's collection.
func each(t resource.Target, fn func(it watchcache.Item[*view.Entry]) bool) {
	prefix := ""
	if t.Namespace != "" {
		prefix = t.Namespace + "/"
	}
	t.Resource.Bucket().Snapshot().Ascend(prefix, "", fn)
}

// ListMetadata is List without decoding more than the metadata; it never converts
// and never fails on an unreadable object. Of an object whose metadata
// cannot be read only namespace and name are filled in, from its key.
func (c Client) ListMetadata(_ context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	t, err := c.target(gr, namespace, "", "")
	if err != nil {
		return nil, err
	}
	var out []metav1.PartialObjectMetadata
	each(t, func(it watchcache.Item[*view.Entry]) bool {
		out = append(out, partial(t, it))
		return true
	})
	return out, nil
}

// partial is the metadata of an object as far as it can be read.
func partial(t resource.Target, it watchcache.Item[*view.Entry]) (m metav1.PartialObjectMetadata) {
	o, err := t.Resource.Object(context.Background(), it.Value, encoding.MetadataOnly()) // nothing has to be waited for
	if err != nil || json.Unmarshal(o.Bytes(), &m) != nil {
		m = metav1.PartialObjectMetadata{}
	}
	m.Namespace, m.Name = catalog.SplitKey(it.Key)
	return m
}

// Fresh waits until the cache holds everything that was committed before the
// call.
func (c Client) Fresh(ctx context.Context) error {
	_, err := c.e.Catalog().Cache().Fresh(ctx)
	return err
}

// Served returns the definitions that are served now.
func (c Client) Served() []*crd.Definition { return c.e.Catalog().Snapshot().Definitions }

// Kinds returns the definitions that are served, after every change of those of
// custom resources that the cache has seen, deletions among them. They are shared
// and not to be changed.
func (c Client) Kinds(ctx context.Context) ([]*crd.Definition, error) {
	if err := c.e.Catalog().WaitForSync(ctx); err != nil {
		return nil, err
	}
	return c.Served(), nil
}
