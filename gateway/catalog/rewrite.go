package catalog

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/storage"
)

// Rewriter says how the stored objects of a resource are brought to its
// storage version: the prefix of their keys, a function that returns the bytes
// that a key should have, and what they are written with ([Resource.Writer]).
type Rewriter struct {
	Prefix  string
	Rewrite func(ctx context.Context, kv storage.KV) (value []byte, changed bool, err error)
	Writer  func(s storage.Store) storage.Writer
}

// Rewriter returns the rewriter of a resource as it is served now. It works at
// the storage level: no admission, no defaulting beyond what reading does, and
// no change but the version and what the schema drops.
func (c *Catalog) Rewriter(gr schema.GroupResource) (Rewriter, error) {
	r := c.Snapshot().Resource(gr)
	if r == nil {
		return Rewriter{}, apierrors.NewNotFound(gr, "")
	}
	return Rewriter{Prefix: r.root, Rewrite: r.rewrite, Writer: func(s storage.Store) storage.Writer { return r.Writer(s) }}, nil
}

func (r *Resource) rewrite(ctx context.Context, kv storage.KV) ([]byte, bool, error) {
	select {
	case <-r.replaced:
		return nil, false, fmt.Errorf("the definition of %s changed during the rewrite", r.GroupResource())
	default:
	}
	if r.Def.TTL != nil {
		return nil, false, nil // it goes by itself; a rewrite would let it live for ever
	}
	tree, version, err := r.restoreTree(NewEntry(kv))
	if err != nil {
		return nil, false, err
	}
	changed := version != r.Def.StorageVersion
	if changed {
		if tree, err = r.ConvertTree(ctx, tree, r.Def.StorageVersion); err != nil {
			return nil, false, err
		}
	}
	dropRevision(tree)
	dropped, err := r.dropDeadManagers(tree)
	if err != nil || !dropped && !changed {
		return nil, false, err
	}
	value, err := r.Def.Codec.Encode(tree)
	return value, true, err
}

// dropDeadManagers removes managedFields entries of versions that the
// definition no longer has: server-side apply could never read them again.
func (r *Resource) dropDeadManagers(tree map[string]any) (changed bool, err error) {
	managed, err := object.TakeManaged(tree)
	if err != nil {
		return false, err
	}
	managed, changed = object.KeepManagers(managed, func(apiVersion string) bool {
		return r.Def.At(apiVersion) != nil
	})
	object.SetManaged(tree, managed)
	return changed, nil
}
