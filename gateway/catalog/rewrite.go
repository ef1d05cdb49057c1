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
	return Rewriter{Prefix: r.root, Rewrite: r.rewrite, Writer: r.Writer}, nil
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
		data, err := object.Encode(tree)
		if err != nil {
			return nil, false, err
		}
		keep := func(_ int, t map[string]any) error { tree = t; return nil }
		if err := r.convertTrees(ctx, r.Def.StorageVersion, [][]byte{data}, keep); err != nil {
			return nil, false, err
		}
	}
	if meta, ok := tree["metadata"].(map[string]any); ok {
		delete(meta, "resourceVersion")
		changed = r.dropDeadManagers(meta) || changed
	}
	if !changed {
		return nil, false, nil
	}
	value, err := r.Def.Codec.Encode(tree)
	return value, true, err
}

// dropDeadManagers removes managedFields entries of versions that the
// definition no longer has: server-side apply could never read them again.
func (r *Resource) dropDeadManagers(meta map[string]any) (changed bool) {
	entries, ok := meta["managedFields"].([]any)
	if !ok {
		return false
	}
	kept := make([]any, 0, len(entries))
	for _, e := range entries {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		apiVersion, _ := m["apiVersion"].(string)
		gv, err := schema.ParseGroupVersion(apiVersion)
		if err == nil && gv.Group == r.Def.Group && r.Def.Version(gv.Version) != nil {
			kept = append(kept, e)
		}
	}
	if len(kept) == 0 {
		delete(meta, "managedFields")
		return true
	}
	meta["managedFields"] = kept
	return len(kept) != len(entries)
}
