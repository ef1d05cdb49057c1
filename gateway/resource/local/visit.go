package local

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Visit calls fn for the objects of a kind in a namespace, in the cache, until it
// fails. Only who calls read pays for more than the name and the revision: it
// returns the object at its storage version, which belongs to the caller.
func (c Client) Visit(ctx context.Context, gr schema.GroupResource, namespace string, fn func(name string, revision int64, read func() (*unstructured.Unstructured, error)) error) error {
	t, err := c.target(gr, namespace, "", "")
	if err != nil {
		return err
	}
	each(t, func(it watchcache.Item[*view.Entry]) bool {
		_, name := catalog.SplitKey(it.Key)
		err = fn(name, it.Value.Revision, func() (*unstructured.Unstructured, error) { return decoded(ctx, t, it.Value) })
		return err == nil
	})
	return err
}

// Stored is an object of the cache as JSON, at the version that it is stored at,
// without its managedFields. It asks no converter, and waits for nothing.
func (c Client) Stored(gr schema.GroupResource, namespace, name string) ([]byte, error) {
	t, err := c.target(gr, namespace, name, "")
	if err != nil {
		return nil, err
	}
	it, ok := t.Resource.Bucket().Snapshot().Get(catalog.JoinKey(namespace, name))
	if !ok {
		return nil, apierrors.NewNotFound(gr, name)
	}
	return stored(t, it)
}

// Sample are objects of the cache as [Client.Stored] has them, most of them at most, and
// spread evenly over all that there are. What cannot be read is left out.
func (c Client) Sample(gr schema.GroupResource, most int) (sample [][]byte, err error) {
	t, err := c.target(gr, "", "", "")
	if err != nil {
		return nil, err
	}
	all := t.Resource.Bucket().Snapshot()
	for i := range min(most, all.Len()) {
		if data, err := stored(t, all.Nth(i*all.Len()/min(most, all.Len()))); err == nil {
			sample = append(sample, data)
		}
	}
	return sample, nil
}

func stored(t resource.Target, it watchcache.Item[*view.Entry]) ([]byte, error) {
	tree, err := t.Resource.Decode(it.Value)
	if err != nil {
		return nil, err
	}
	object.Detach(tree)
	object.SetRevision(tree, it.Revision)
	return object.Encode(tree)
}
