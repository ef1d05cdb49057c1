package catalog

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Compiler turns a stored CustomResourceDefinition into a definition. It
// returns nil for one that is not served (not established yet).
type Compiler func(tree map[string]any) (*crd.Definition, error)

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
	// Log receives what no client is told.
	Log zerolog.Logger
}

// Catalog keeps the snapshot current: built-ins for ever, custom resources as
// their definitions come and go. Its methods are safe for concurrent use,
// except that Run runs once.
type Catalog struct {
	cache   *watchcache.Cache[*Entry]
	ready   chan struct{}
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
	mu sync.Mutex
	// retired are former forms of resources with writes that may not have
	// ended.
	retired []*Resource
	applied int64
	changed chan struct{}
}

// served is one custom resource and what it was compiled from.
type served struct {
	resource    *Resource
	fingerprint []byte
	stop        chan struct{}
}

// Snapshot is what is served now.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Cache is the watch cache that holds all objects.
func (c *Catalog) Cache() *watchcache.Cache[*Entry] { return c.cache }

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
		cache: watchcache.New(o.Store, watchcache.Options[*Entry]{
			Prefix:   o.Prefix,
			BucketOf: func(key string) string { return bucketOf(prefixes, key) },
			Make:     NewEntry, Tombstone: Tombstone, Adopt: (*Entry).Adopt,
			SizeOf: (*Entry).Size, Shed: (*Entry).Shed,
			OnError: func(err error) { o.Log.Warn().Err(err).Msg("watch cache recovers from a failure") },
		}),
		ready: make(chan struct{}), custom: map[string]*served{}, changed: make(chan struct{}),
	}
	for _, d := range o.Builtins {
		r := newResource(d, o.Prefix, c.cache, nil)
		c.builtins = append(c.builtins, r)
		if d.Group == "apiextensions.k8s.io" && d.Plural == "customresourcedefinitions" {
			c.crds = r
		}
	}
	c.publish()
	return c
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

// Run keeps the cache and the definitions current until ctx ends.
func (c *Catalog) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.cache.Run(ctx) })
	g.Go(func() error {
		select {
		case <-c.cache.Ready():
		case <-ctx.Done():
			return nil
		}
		cursor, err := c.load()
		if err != nil {
			return err
		}
		close(c.ready)
		return c.run(ctx, cursor)
	})
	return g.Wait()
}

// load compiles every definition that exists and returns the cursor that
// follows from there.
func (c *Catalog) load() (*watchcache.Cursor[*Entry], error) {
	snap := c.crds.bucket.Snapshot()
	snap.Ascend("", "", func(it watchcache.Item[*Entry]) bool {
		c.update(it.Key, it.Value)
		return true
	})
	c.publish()
	c.advance(snap.Revision())
	return c.crds.bucket.Watch(snap.Revision())
}

// maxEvents is how many changes of definitions are taken over at once.
const maxEvents = 256

// run follows the definitions until ctx ends.
func (c *Catalog) run(ctx context.Context, cursor *watchcache.Cursor[*Entry]) error {
	for {
		events, revision, err := cursor.Next(ctx, maxEvents)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil { // the history is gone: start over
			if cursor, err = c.reload(); err != nil {
				return err
			}
			continue
		}
		changed := false
		for _, e := range events {
			if e.Type == watchcache.Deleted {
				changed = c.remove(e.Item.Key) || changed
			} else {
				changed = c.update(e.Item.Key, e.Item.Value) || changed
			}
		}
		if changed {
			c.publish()
		}
		c.advance(revision)
	}
}

// reload starts over from the present state.
func (c *Catalog) reload() (*watchcache.Cursor[*Entry], error) {
	for {
		snap := c.crds.bucket.Snapshot()
		for name := range c.custom {
			if _, ok := snap.Get(name); !ok {
				c.remove(name)
			}
		}
		cursor, err := c.load()
		if err == nil || !watchcache.IsExpired(err) {
			return cursor, err
		}
	}
}

// update compiles one definition unless nothing that matters changed. A
// definition that does not compile keeps its last good form.
func (c *Catalog) update(name string, e *Entry) bool {
	old := c.custom[name]
	tree, _, err := c.crds.restoreTree(e)
	if err != nil {
		c.log.Error().Err(err).Str("crd", name).Msg("definition cannot be read")
		return false
	}
	print := fingerprint(tree)
	if old != nil && bytes.Equal(old.fingerprint, print) {
		return false
	}
	def, err := c.compile(tree)
	if err != nil {
		c.log.Error().Err(err).Str("crd", name).Msg("definition cannot be served; its last good form stays")
		return false
	}
	if def == nil {
		return c.remove(name)
	}
	conv, err := c.convert(def)
	if err != nil {
		c.log.Error().Err(err).Str("crd", name).Msg("converter cannot be made; the definition's last good form stays")
		return false
	}
	c.remove(name)
	stop := make(chan struct{})
	r := newResource(def, c.prefix, c.cache, conv)
	r.replaced = stop
	c.custom[name] = &served{resource: r, fingerprint: print, stop: stop}
	return true
}

func (c *Catalog) remove(name string) bool {
	old := c.custom[name]
	if old == nil {
		return false
	}
	delete(c.custom, name)
	c.former = append(c.former, old)
	return true
}

// Settled tells whether no write goes on under a former form of a resource.
func (c *Catalog) Settled(gr schema.GroupResource) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settledLocked(gr)
}

func (c *Catalog) settledLocked(gr schema.GroupResource) bool {
	for _, r := range c.retired {
		if r.GroupResource() == gr && r.writes.Load() > 0 {
			return false
		}
	}
	return true
}

// Serving returns the storage version that every later write to a resource
// uses, and every write that has not ended. ok is false while writes to
// another version may go on, and when the resource is not served.
func (c *Catalog) Serving(gr schema.GroupResource) (version string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.Snapshot().Resource(gr)
	if r == nil || !c.settledLocked(gr) {
		return "", false
	}
	return r.Def.StorageVersion, true
}

// fingerprint holds what a compiled definition depends on.
func fingerprint(tree map[string]any) []byte {
	status, _ := tree["status"].(map[string]any)
	meta, _ := tree["metadata"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	states := map[string]any{}
	for _, e := range conditions {
		if cond, ok := e.(map[string]any); ok {
			if t, ok := cond["type"].(string); ok {
				states[t] = cond["status"]
			}
		}
	}
	b, err := object.Encode(map[string]any{
		"uid": meta["uid"], "deleted": meta["deletionTimestamp"] != nil,
		"spec": tree["spec"], "names": status["acceptedNames"], "conditions": states,
	})
	if err != nil {
		return nil
	}
	return b
}

// publish replaces the snapshot, and only then ends the service of what is no
// longer in it: who is turned away finds what came instead. Nobody can see the
// one without the other while holding mu.
func (c *Catalog) publish() {
	next := c.snapshot()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.Store(next)
	c.retired = slices.DeleteFunc(c.retired, func(r *Resource) bool { return r.writes.Load() == 0 })
	for _, old := range c.former {
		close(old.stop)
		c.retired = append(c.retired, old.resource)
	}
	c.former = nil
}

func (c *Catalog) advance(revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision > c.applied {
		c.applied = revision
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// Defines tells whether the objects of r are definitions of custom resources.
func (c *Catalog) Defines(r *Resource) bool { return r == c.crds }

// WaitApplied waits until definitions up to revision are in the snapshot.
func (c *Catalog) WaitApplied(ctx context.Context, revision int64) error {
	for {
		c.mu.Lock()
		applied, changed := c.applied, c.changed
		c.mu.Unlock()
		if applied >= revision {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
