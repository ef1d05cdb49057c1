package admitting

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// params implements [policy.Params] by the cache.
type params struct{ catalog *catalog.Catalog }

// resource finds the kind that is served at a version.
func (p params) resource(kind schema.GroupVersionKind) *catalog.Resource {
	served := p.catalog.Snapshot()
	for _, d := range served.Definitions {
		if d.Kind != kind.Kind {
			continue
		}
		if v := d.At(kind.GroupVersion().String()); v != nil && v.Served {
			return served.Resource(d.GroupResource())
		}
	}
	return nil
}

// Namespaced implements [policy.Params].
func (p params) Namespaced(kind schema.GroupVersionKind) (namespaced, served bool) {
	if r := p.resource(kind); r != nil {
		return r.Def.Namespaced, true
	}
	return false, false
}

// Get implements [policy.Params]. What the cache does not have is looked for
// again once it has all that was written before.
func (p params) Get(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	r := p.resource(kind)
	if r == nil {
		return nil, nil
	}
	key := catalog.JoinKey(namespace, name)
	it, ok := r.Bucket().Snapshot().Get(key)
	if !ok {
		if _, err := p.catalog.Cache().Fresh(ctx); err != nil {
			return nil, err
		}
		if it, ok = r.Bucket().Snapshot().Get(key); !ok {
			return nil, nil
		}
	}
	return read(ctx, r, it.Value, kind)
}

// Select implements [policy.Params].
func (p params) Select(ctx context.Context, kind schema.GroupVersionKind, namespace string, s labels.Selector) ([]*unstructured.Unstructured, error) {
	r := p.resource(kind)
	if r == nil {
		return nil, nil
	}
	var out []*unstructured.Unstructured
	var failed error
	prefix := ""
	if namespace != "" {
		prefix = catalog.JoinKey(namespace, "")
	}
	r.Bucket().Snapshot().Ascend(prefix, "", func(it watchcache.Item[*view.Entry]) bool {
		set, err := r.Labels(it.Value)
		if err == nil && !s.Matches(set) {
			return true
		}
		var one *unstructured.Unstructured
		if err == nil {
			one, err = read(ctx, r, it.Value, kind)
		}
		out, failed = append(out, one), err
		return err == nil
	})
	return out, failed
}

func read(ctx context.Context, r *catalog.Resource, e *view.Entry, kind schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	data, err := r.View(ctx, e, r.Def.At(kind.GroupVersion().String()).Name)
	if err != nil {
		return nil, err
	}
	tree, _, err := object.ParseObject(data)
	if err != nil {
		return nil, r.Unreadable(e, err)
	}
	object.Detach(tree) // nothing asks parameters who owns them
	return &unstructured.Unstructured{Object: tree}, nil
}
