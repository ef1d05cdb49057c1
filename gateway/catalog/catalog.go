package catalog

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Compiler turns a CustomResourceDefinition into a definition. stored is how
// the store holds it, and must not be changed; previous is what is served for
// it now, nil for nothing: what is the same need not be compiled again. It
// returns nil for one that is not served (not established yet).
type Compiler func(stored []byte, previous *crd.Definition) (*crd.Definition, error)

// ConverterFactory makes the converter of a definition; nil when there is
// nothing to convert.
type ConverterFactory func(*crd.Definition) (conversion.Converter, error)

// Options configure a [Catalog].
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
	// Spared, if set, is told how many conversions a reader was spared because
	// their outcome was remembered. It must be cheap.
	Spared func(n int)
	// ViewBytes is how much memory, about, everything may take that is made of
	// present objects for readers: other versions, other encodings, compressed
	// runs. 0 means any number.
	ViewBytes int64
	// Log receives what no client is told.
	Log zerolog.Logger
}

// Catalog keeps the snapshot current: built-ins for ever, custom resources as
// their definitions come and go. Its methods are safe for concurrent use,
// except that Run runs once.
type Catalog struct {
	cache   *watchcache.Cache[*view.Entry]
	ready   chan struct{}
	memory  *view.Memory
	prefix  string
	compile Compiler
	convert ConverterFactory
	log     zerolog.Logger

	builtins []*Resource
	crds     *Resource

	current atomic.Pointer[Snapshot]

	// custom are the custom resources by the name of their definition, and
	// former those that the next publish takes out of service; both are the
	// loop's alone.
	custom map[string]*served
	former []*served

	// mu guards what follows, and is held while the snapshot is replaced.
	mu      sync.Mutex
	applied atomic.Int64 // definitions up to here are in the snapshot
	changed chan struct{}
}

// Snapshot is what is served now.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Cache is the watch cache that holds all objects.
func (c *Catalog) Cache() *watchcache.Cache[*view.Entry] { return c.cache }

// Ready is closed once everything stored is being served.
func (c *Catalog) Ready() <-chan struct{} { return c.ready }

// New makes a catalog of the built-in kinds; the custom ones are there once
// [Catalog.Run] is ready.
func New(o Options) *Catalog {
	prefixes := map[string]bool{}
	for _, d := range o.Builtins {
		prefixes[d.KeyPrefix] = true
	}
	c := &Catalog{
		prefix: o.Prefix, compile: o.Compile, convert: o.Convert, log: o.Log,
		cache: watchcache.New(o.Store, watchcache.Options[*view.Entry]{
			Prefix:   o.Prefix,
			BucketOf: func(key string) string { return bucketOf(prefixes, key) },
			Make:     view.NewEntry, Tombstone: view.Tombstone, Adopt: (*view.Entry).Adopt,
			Again: (*view.Entry).Sealed, SizeOf: (*view.Entry).Size, LeastOf: (*view.Entry).StoredSize, Shed: (*view.Entry).Shed,
			OnError: func(err error) { o.Log.Warn().Err(err).Msg("watch cache recovers from a failure") },
		}),
		memory: view.NewMemory(o.ViewBytes, o.Spared), ready: make(chan struct{}), custom: map[string]*served{}, changed: make(chan struct{}),
	}
	for _, d := range o.Builtins {
		r := c.newResource(d, nil)
		c.builtins = append(c.builtins, r)
		if d.Group == "apiextensions.k8s.io" && d.Plural == "customresourcedefinitions" {
			c.crds = r
		}
	}
	c.publish()
	return c
}

// ClaimKey is the key in the store that stands for a name while a write has it
// for itself. It lies among the objects, so that the cache sees when it does, but
// is none.
func (c *Catalog) ClaimKey(name string) string { return c.prefix + "claims/" + name }

// Run keeps the cache and the definitions current until ctx ends.
func (c *Catalog) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.cache.Run(ctx) })
	g.Go(func() error { c.memory.Run(ctx, c.eachEntry); return nil })
	g.Go(func() error {
		select {
		case <-c.cache.Ready():
		case <-ctx.Done():
			return nil
		}
		cursor, err := c.reload() // the cache may have been read again meanwhile
		if err != nil {
			return err
		}
		close(c.ready)
		return c.run(ctx, cursor)
	})
	return g.Wait()
}

// eachEntry visits the present objects of all kinds.
func (c *Catalog) eachEntry(visit func(*view.Entry)) {
	c.cache.Each(func(it watchcache.Item[*view.Entry]) { visit(it.Value) })
}

// ViewBytes is how much memory is taken by what [Options.ViewBytes] bounds, and
// by what was made of objects that are gone by now, until somebody counts again.
func (c *Catalog) ViewBytes() int64 { return c.memory.Held() }

// Resource is the resource as it is served now, or the status error NotFound.
func (c *Catalog) Resource(gr schema.GroupResource) (*Resource, error) {
	r := c.Snapshot().Resource(gr)
	if r == nil {
		return nil, apierrors.NewNotFound(gr, "")
	}
	return r, nil
}

// Serving returns the storage version that every write to a resource uses that
// commits from now on, on every gateway; ok is false when the resource is not
// served.
func (c *Catalog) Serving(gr schema.GroupResource) (version string, ok bool) {
	r := c.Snapshot().Resource(gr)
	if r == nil {
		return "", false
	}
	return r.Def.StorageVersion, true
}

// publish replaces the snapshot, and only then ends the service of what is no
// longer in it: who is turned away finds what came instead. Nobody can see the
// one without the other while holding mu.
func (c *Catalog) publish() {
	next := c.snapshot()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.Store(next)
	for _, old := range c.former {
		close(old.stop)
		if !old.shown {
			close(old.resource.showing.over)
		}
	}
	c.former = nil
}

func (c *Catalog) advance(revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision > c.applied.Load() {
		c.applied.Store(revision)
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// AwaitRedefined waits until the catalog knows what became of r's definition
// after revision: it returns nil when r stands for a later one too, and
// [ErrReplaced] when it does not; where a later one cannot be served here, it is unavailable. A definition that is gone from the store is
// known to be gone only when its last form, which takes no new objects, is not
// served any more.
func (c *Catalog) AwaitRedefined(ctx context.Context, r *Resource, revision int64, gone bool) error {
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		now := c.Snapshot().Resource(r.GroupResource())
		ends := gone && now != nil && now.Def.Terminating
		switch {
		case ends: // its removal is still to come
		case r.Current() != nil:
			return ErrReplaced
		case r.definedAt.Load() != revision:
			return nil
		}
		if err := r.barred(); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return view.ErrTimeout()
		}
	}
}

// Defines tells whether the objects of r are definitions of custom resources.
func (c *Catalog) Defines(r *Resource) bool { return r == c.crds }

// InForce waits until r is served by what the cache shows of its definition, and
// fails with [ErrReplaced] when that is another form of the resource, or none. What
// became of other definitions is not waited for.
func (c *Catalog) InForce(ctx context.Context, r *Resource) error {
	if r.definition == "" {
		return nil
	}
	if err := c.settled(ctx, r); err != nil {
		return err
	}
	return r.Current()
}

// settled waits until the catalog knows what became of r's definition.
func (c *Catalog) settled(ctx context.Context, r *Resource) error {
	if latest := c.crds.bucket.Latest(); c.applied.Load() < latest {
		it, ok := c.crds.bucket.Snapshot().Get(strings.TrimPrefix(r.definition, c.crds.root))
		if (!ok || it.Value.Revision != r.definedAt.Load()) && c.WaitApplied(ctx, latest) != nil {
			return view.ErrTimeout()
		}
	}
	return nil
}

// WaitForSync waits until every definition that the cache holds is in the snapshot.
func (c *Catalog) WaitForSync(ctx context.Context) error {
	return c.WaitApplied(ctx, c.crds.bucket.Latest())
}

// WaitApplied waits until definitions up to revision are in the snapshot.
func (c *Catalog) WaitApplied(ctx context.Context, revision int64) error {
	for c.applied.Load() < revision {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if c.applied.Load() >= revision {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
