package view

import (
	"context"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/storage"
)

// Rewritten is what is stored under a key as it should be: at the storage version. One that
// is so already and kept as it would be now is left as it is, with what the schema drops;
// changed reports whether it is another one, which has nothing of that.
func (r *Renderer) Rewritten(ctx context.Context, kv storage.KV) (value []byte, changed bool, err error) {
	if r.Def.TTL != nil {
		return nil, false, nil // it goes by itself; a rewrite would let it live for ever
	}
	tree, version, err := r.restoreTree(NewEntry(kv))
	if err != nil {
		return nil, false, err
	}
	changed = version != r.Def.StorageVersion
	if changed {
		if tree, err = r.ConvertTree(ctx, tree, r.Def.StorageVersion); err != nil {
			return nil, false, err
		}
	}
	dropRevision(tree)
	dropped, err := r.dropDeadManagers(tree)
	switch {
	case err != nil:
		return nil, false, err
	case !dropped && !changed:
		return kv.Value, kv.Keeping == storage.Stale, nil
	}
	value, err = r.Def.Codec.Encode(tree)
	return value, true, err
}

// dropDeadManagers removes managedFields entries of versions that the
// definition no longer has: server-side apply could never read them again.
func (r Stored) dropDeadManagers(tree map[string]any) (changed bool, err error) {
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
