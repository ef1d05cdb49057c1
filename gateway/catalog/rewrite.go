package catalog

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	if r.Current() != nil {
		return nil, false, fmt.Errorf("the definition of %s changed during the rewrite", r.GroupResource())
	}
	return r.Rewritten(ctx, kv)
}
