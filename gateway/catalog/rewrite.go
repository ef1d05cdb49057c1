package catalog

import (
	"context"
	"fmt"

	"github.com/wasmgate/wasmgate/storage"
)

// Rewrite is what should be stored under a key of the resource, which works at the
// storage level: no admission, no defaulting beyond what reading does, and no change
// but the version and what the schema drops. It is to be written with
// [Resource.Writer]. The error is [ErrReplaced] once the resource is served in another form.
func (r *Resource) Rewrite(ctx context.Context, kv storage.KV) (value []byte, changed bool, err error) {
	if r.Current() != nil {
		return nil, false, fmt.Errorf("the definition of %s changed during the rewrite: %w", r.GroupResource(), ErrReplaced)
	}
	return r.Rewritten(ctx, kv)
}
