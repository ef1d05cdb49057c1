package catalog

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
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
	applied int64
	changed chan struct{}
}

// served is one custom resource and what it was compiled from.
type served struct {
	resource    *Resource
	converter   conversion.Converter
	fingerprint digest
	stop        chan struct{}
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
			SizeOf: (*view.Entry).Size, Shed: (*view.Entry).Shed,
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

// bucketOf finds the definition prefix of a key: a built-in's, of which some
// have two segments, or the first two segments for a group (which has a dot, so it is no built-in's plural).
func bucketOf(builtins map[string]bool, key string) string {
	first, rest, ok := strings.Cut(key, "/")
	if !ok {
		return ""
	}
	if builtins[first] {
		return first
	}
	second, _, ok := strings.Cut(rest, "/")
	both := key[:len(first)+1+len(second)]
	if !ok || !builtins[both] && !strings.Contains(first, ".") {
		return ""
	}
	return both
}

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
		cursor, err := c.load()
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

// load compiles every definition that exists and returns the cursor that
// follows from there.
func (c *Catalog) load() (*watchcache.Cursor[*view.Entry], error) {
	snap := c.crds.bucket.Snapshot()
	var all []watchcache.Item[*view.Entry]
	snap.Ascend("", "", func(it watchcache.Item[*view.Entry]) bool {
		all = append(all, it)
		return true
	})
	made := make([]compiled, len(all))
	errs := make([]error, len(all))
	// No failure is one of the whole: each is noted where it belongs.
	_ = view.Spread(len(all), func(i int) error {
		made[i], errs[i] = c.compiled(all[i].Value, c.custom[all[i].Key])
		return nil
	})
	for i, it := range all {
		c.take(it.Key, it.Value, made[i], errs[i])
	}
	c.publish()
	c.advance(snap.Revision())
	return c.crds.bucket.Watch(snap.Revision())
}

// maxEvents is how many changes of definitions are taken over at once.
const maxEvents = 256

// run follows the definitions until ctx ends.
func (c *Catalog) run(ctx context.Context, cursor *watchcache.Cursor[*view.Entry]) error {
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
func (c *Catalog) reload() (*watchcache.Cursor[*view.Entry], error) {
	for {
		snap := c.crds.bucket.Snapshot()
		for name := range c.custom {
			if _, ok := snap.Get(name); !ok {
				c.remove(name)
			}
		}
		cursor, err := c.load()
		if !watchcache.IsExpired(err) {
			return cursor, err
		}
	}
}

// update takes over a stored definition and reports whether anything else is
// to be served. A definition that cannot be served keeps its last good form.
func (c *Catalog) update(name string, e *view.Entry) bool {
	next, err := c.compiled(e, c.custom[name])
	return c.take(name, e, next, err)
}

// take is update with a definition that was compiled, or failed to.
func (c *Catalog) take(name string, e *view.Entry, next compiled, err error) bool {
	switch {
	case err != nil:
		c.log.Error().Err(err).Str("crd", name).Msg("definition cannot be served; its last good form, if any, stays")
		return c.keep(name, e)
	case next.same:
		c.custom[name].resource.confirm(e.Revision)
		return false
	case next.definition == nil:
		return c.remove(name)
	}
	c.serve(name, e, next)
	return true
}

// compiled is what a stored definition is to be served as.
type compiled struct {
	same        bool // as it is served already
	definition  *crd.Definition
	converter   conversion.Converter
	fingerprint digest
}

// compiled compiles a stored definition. Whatever one definition does to the
// compiler, the others are served.
func (c *Catalog) compiled(e *view.Entry, old *served) (f compiled, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error().Bytes("stack", debug.Stack()).Msg("compiling a definition panicked")
			err = fmt.Errorf("compiling it panicked: %v", p)
		}
	}()
	text, err := c.crds.JSON(e)
	if err != nil {
		return f, fmt.Errorf("reading it: %w", err)
	}
	if f.fingerprint, err = fingerprint(text); err != nil {
		return f, fmt.Errorf("reading it: %w", err)
	}
	var previous *crd.Definition
	if old != nil {
		if old.fingerprint == f.fingerprint {
			f.same = true
			return f, nil
		}
		previous = old.resource.Def
	}
	if f.definition, err = c.compile(text, previous); err != nil || f.definition == nil {
		return f, err
	}
	if f.converter, err = c.convert(f.definition); err != nil {
		return f, fmt.Errorf("making its converter: %w", err)
	}
	return f, nil
}

// serve replaces whatever is served for a definition.
func (c *Catalog) serve(name string, e *view.Entry, f compiled) {
	c.remove(name)
	stop := make(chan struct{})
	r := c.newResource(f.definition, f.converter)
	r.replaced, r.definition = stop, c.crds.Key("", name)
	r.confirm(e.Revision)
	c.custom[name] = &served{resource: r, converter: f.converter, fingerprint: f.fingerprint, stop: stop}
}

// keep lets the last good form of a definition stand for what is stored now,
// except that what is being deleted takes no new objects.
func (c *Catalog) keep(name string, e *view.Entry) bool {
	old := c.custom[name]
	if old == nil {
		return false
	}
	if meta, err := c.crds.Metadata(e); err == nil && !old.resource.Def.Terminating && isSet(object.Field(meta, "deletionTimestamp")) {
		last := *old.resource.Def
		last.Terminating = true
		c.serve(name, e, compiled{definition: &last, converter: old.converter})
		return true
	}
	old.resource.confirm(e.Revision)
	return false
}

// isSet tells whether a field is there and not null.
func isSet(raw []byte) bool { return len(raw) > 0 && string(raw) != "null" }

func (c *Catalog) remove(name string) bool {
	old := c.custom[name]
	if old == nil {
		return false
	}
	delete(c.custom, name)
	c.former = append(c.former, old)
	return true
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

// AwaitRedefined waits until the catalog knows what became of r's definition
// after revision: it returns nil when r stands for a later one too, and
// [ErrReplaced] when it does not. A definition that is gone from the store is
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
		select {
		case <-changed:
		case <-ctx.Done():
			return view.ErrTimeout()
		}
	}
}

// Defines tells whether the objects of r are definitions of custom resources.
func (c *Catalog) Defines(r *Resource) bool { return r == c.crds }

// WaitForSync waits until every definition that the cache holds is in the snapshot.
func (c *Catalog) WaitForSync(ctx context.Context) error {
	return c.WaitApplied(ctx, c.crds.bucket.Latest())
}

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
