package resource

import (
	"context"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Options configure an [Engine].
type Options struct {
	// Store keeps the objects.
	Store storage.Store
	// Prefix is the root of all object keys, with slashes at both ends.
	Prefix string
	// Builtins are the definitions that are always served; one of them is
	// customresourcedefinitions.apiextensions.k8s.io.
	Builtins []*crd.Definition
	// Compile and Convert make custom resources.
	Compile Compiler
	Convert ConverterFactory
	// Log receives what no client is told.
	Log zerolog.Logger
}

// Engine serves definitions.
type Engine struct {
	store   storage.Store
	cache   *watchcache.Cache[*Entry]
	catalog *Catalog
	ready   chan struct{}
	log     zerolog.Logger
}

// New makes an engine; it serves after [Engine.Run] is ready.
func New(o Options) *Engine {
	prefixes := map[string]bool{}
	for _, d := range o.Builtins {
		prefixes[d.KeyPrefix] = true
	}
	cache := watchcache.New(o.Store, watchcache.Options[*Entry]{
		Prefix:   o.Prefix,
		BucketOf: func(key string) string { return bucketOf(prefixes, key) },
		Make:     NewEntry, Tombstone: Tombstone,
	})
	return &Engine{store: o.Store, cache: cache, catalog: newCatalog(o, cache), ready: make(chan struct{}), log: o.Log}
}

// bucketOf finds the definition prefix of a key: a built-in's, or the first
// two segments for a group (which has a dot, so it is no built-in's plural).
func bucketOf(builtins map[string]bool, key string) string {
	first, rest, ok := strings.Cut(key, "/")
	if !ok {
		return ""
	}
	if builtins[first] {
		return first
	}
	second, _, ok := strings.Cut(rest, "/")
	if !ok || !strings.Contains(first, ".") {
		return ""
	}
	return key[:len(first)+1+len(second)]
}

// Run keeps the cache and the catalog current until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.cache.Run(ctx) })
	g.Go(func() error {
		select {
		case <-e.cache.Ready():
		case <-ctx.Done():
			return nil
		}
		cursor, err := e.catalog.load()
		if err != nil {
			return err
		}
		close(e.ready)
		return e.catalog.run(ctx, cursor)
	})
	return g.Wait()
}

// Ready is closed once everything stored is being served.
func (e *Engine) Ready() <-chan struct{} { return e.ready }

// Healthy tells whether the cache follows the store.
func (e *Engine) Healthy() error { return e.cache.Healthy() }

// Catalog is what is served.
func (e *Engine) Catalog() *Catalog { return e.catalog }

// waitTimeout is how long a read waits for a revision that the cache has not
// reached.
const waitTimeout = 3 * time.Second

// settle waits, for a little, until this gateway serves what a write to a
// definition at revision asked for, so that the writer's next request meets it.
func (e *Engine) settle(ctx context.Context, r *Resource, revision int64) {
	if r != e.catalog.crds {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := e.cache.Wait(ctx, revision); err != nil {
		return // the write is done; only its effect is not awaited any longer
	}
	if err := e.catalog.waitApplied(ctx, revision); err != nil {
		e.log.Debug().Err(err).Int64("revision", revision).Msg("definition not applied in time")
	}
}
