// Package ordering owns the orders of versions that are in force in this
// process, as VersionPriority objects give them.
//
// It must not know modules, nor in which documents an order shows.
package ordering

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/crd/priority"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Source keeps the orders current. It follows the cache without a goroutine:
// whoever asks compares what was read with what the cache holds, which is one
// pointer. It never calls a module. It is safe for concurrent use.
type Source struct {
	catalog *catalog.Catalog
	kind    *catalog.Resource
	log     zerolog.Logger

	current  atomic.Pointer[Orders]
	changing sync.Mutex
}

// Orders are the orders of one moment. They never change.
type Orders struct {
	from    watchcache.Snapshot[*view.Entry]
	byGroup map[string][]string
}

// New makes the source of the orders that c serves.
func New(c *catalog.Catalog, log zerolog.Logger) *Source {
	return &Source{catalog: c, kind: c.Snapshot().Resource(gvr.Priorities), log: log.With().Str("component", "ordering").Logger()}
}

// Current are the orders in force, the same as before while no VersionPriority
// changes.
func (s *Source) Current() *Orders {
	now := s.kind.Bucket().Snapshot()
	if o := s.current.Load(); o != nil && o.from.Same(now) {
		return o
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	was, now := s.current.Load(), s.kind.Bucket().Snapshot()
	if was != nil && was.from.Same(now) {
		return was
	}
	next := &Orders{from: now, byGroup: map[string][]string{}}
	for group, owner := range priority.Owners(s.read(now)) {
		if order := owner.Status.Order(group); len(order) > 0 {
			next.byGroup[group] = order
		}
	}
	s.current.Store(next)
	return next
}

// read decodes the objects of a snapshot. One that cannot be read orders
// nothing, as somebody else has to mend it in the store.
func (s *Source) read(now watchcache.Snapshot[*view.Entry]) []*priority.Object {
	var all []*priority.Object
	now.Ascend("", "", func(it watchcache.Item[*view.Entry]) bool {
		data, err := s.kind.View(context.Background(), it.Value, s.kind.Def.StorageVersion)
		var o priority.Object
		if err == nil {
			err = json.Unmarshal(data, &o)
		}
		if err != nil {
			s.log.Error().Err(err).Str("name", it.Key).Msg("a VersionPriority cannot be read and orders nothing")
			return true
		}
		all = append(all, &o)
		return true
	})
	return all
}

// Apply puts the versions that a group serves into the order in force; without
// one they stay as they are.
func (o *Orders) Apply(group string, versions []string) []string {
	return priority.Apply(o.byGroup[group], versions)
}

// Versions are the versions that a group serves, in the Kubernetes order, with
// every definition that the cache holds.
func (s *Source) Versions(ctx context.Context, group string) ([]string, error) {
	if err := s.catalog.WaitForSync(ctx); err != nil {
		return nil, err
	}
	return discovery.Versions(s.catalog.Snapshot().Definitions, group), nil
}
