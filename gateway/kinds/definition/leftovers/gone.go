package leftovers

import (
	"context"
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/storage"
)

// Gone remembers the namespaces that were let go and are to be looked at again,
// whoever does it by then. It is the namespace.Memory of the gateways that share
// a store, and safe for concurrent use.
type Gone struct {
	Store storage.Store
	// Root is where the names are kept, with slashes at both ends: below no
	// prefix of objects.
	Root string
}

// Keep remembers a name, which may be remembered already.
func (g Gone) Keep(ctx context.Context, name string) error {
	if _, err := g.Store.Create(ctx, g.Root+name, []byte("{}"), 0); err != nil && storage.KindOf(err) != storage.Exists {
		return fmt.Errorf("remembering namespace %q: %w", name, err)
	}
	return nil
}

// Kept returns all names, in order.
func (g Gone) Kept(ctx context.Context) (names []string, err error) {
	err = g.Store.Scan(ctx, storage.Range{Prefix: g.Root}, func(p storage.Page) error {
		for _, kv := range p.KVs {
			names = append(names, strings.TrimPrefix(kv.Key, g.Root))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the namespaces that are gone: %w", err)
	}
	return names, nil
}

// Drop forgets a name, which may be forgotten already.
func (g Gone) Drop(ctx context.Context, name string) error {
	kv, err := g.Store.Get(ctx, g.Root+name)
	if err == nil {
		_, err = g.Store.Delete(ctx, kv.Key, kv.Revision)
	}
	if err != nil && storage.KindOf(err) != storage.NotFound {
		return fmt.Errorf("forgetting namespace %q: %w", name, err)
	}
	return nil
}
