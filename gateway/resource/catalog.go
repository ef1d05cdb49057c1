package resource

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Compiler turns a stored CustomResourceDefinition into a definition. It
// returns nil for one that is not served (not established yet).
type Compiler func(tree map[string]any) (*crd.Definition, error)

// ConverterFactory makes the converter of a definition; nil when there is
// nothing to convert.
type ConverterFactory func(*crd.Definition) (conversion.Converter, error)

// Snapshot is everything that is served at one moment. It is immutable.
type Snapshot struct {
	// Serial changes whenever a definition does.
	Serial uint64
	// Definitions are all definitions, built-in ones first, then custom ones
	// by group and name.
	Definitions []*crd.Definition

	resources map[schema.GroupResource]*Resource
	groups    map[string]map[string]bool
}

// Resource returns the resource served under that group and plural, or nil.
func (s *Snapshot) Resource(gr schema.GroupResource) *Resource { return s.resources[gr] }

// Find resolves the group, version and plural of a request.
func (s *Snapshot) Find(group, version, plural string) (*Resource, *crd.Version) {
	r := s.resources[schema.GroupResource{Group: group, Resource: plural}]
	if r == nil {
		return nil, nil
	}
	v := r.Def.Version(version)
	if v == nil || !v.Served {
		return nil, nil
	}
	return r, v
}

// HasGroupVersion tells whether anything is served under a group and version.
func (s *Snapshot) HasGroupVersion(group, version string) bool { return s.groups[group][version] }

// Catalog keeps the snapshot current: built-ins for ever, custom resources as
// their definitions come and go.
type Catalog struct {
	cache   *watchcache.Cache[*Entry]
	prefix  string
	compile Compiler
	convert ConverterFactory
	log     zerolog.Logger

	builtins []*Resource
	crds     *Resource

	current atomic.Pointer[Snapshot]

	mu     sync.Mutex
	custom map[string]*served
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

func newCatalog(o Options, cache *watchcache.Cache[*Entry]) *Catalog {
	c := &Catalog{
		cache: cache, prefix: o.Prefix, compile: o.Compile, convert: o.Convert, log: o.Log,
		custom: map[string]*served{}, changed: make(chan struct{}),
	}
	for _, d := range o.Builtins {
		r := newResource(d, o.Prefix, cache, nil)
		c.builtins = append(c.builtins, r)
		if d.Group == "apiextensions.k8s.io" && d.Plural == "customresourcedefinitions" {
			c.crds = r
		}
	}
	c.publish()
	return c
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

// run follows the definitions until ctx ends.
func (c *Catalog) run(ctx context.Context, cursor *watchcache.Cursor[*Entry]) error {
	for {
		events, revision, err := cursor.Next(ctx, maxChanges)
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

func (c *Catalog) reload() (*watchcache.Cursor[*Entry], error) {
	snap := c.crds.bucket.Snapshot()
	for name := range c.custom {
		if _, ok := snap.Get(name); !ok {
			c.remove(name)
		}
	}
	return c.load()
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
	close(old.stop)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = append(slices.DeleteFunc(c.retired, func(r *Resource) bool { return r.writes.Load() == 0 }), old.resource)
	return true
}

// settled tells whether no write goes on under a former form of a resource.
func (c *Catalog) settled(gr schema.GroupResource) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
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
	r := c.Snapshot().Resource(gr)
	if r == nil || !c.settled(gr) {
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

func (c *Catalog) publish() {
	s := &Snapshot{Serial: epochs.Add(1), resources: map[schema.GroupResource]*Resource{}, groups: map[string]map[string]bool{}}
	all := slices.Clone(c.builtins)
	custom := make([]*Resource, 0, len(c.custom))
	for _, r := range c.custom {
		custom = append(custom, r.resource)
	}
	slices.SortFunc(custom, func(a, b *Resource) int {
		if n := strings.Compare(a.Def.Group, b.Def.Group); n != 0 {
			return n
		}
		return strings.Compare(a.Def.Plural, b.Def.Plural)
	})
	for _, r := range append(all, custom...) {
		if _, taken := s.resources[r.GroupResource()]; taken {
			continue // a built-in is never shadowed
		}
		s.resources[r.GroupResource()] = r
		s.Definitions = append(s.Definitions, r.Def)
		for _, v := range r.Def.Versions {
			if v.Served {
				if s.groups[r.Def.Group] == nil {
					s.groups[r.Def.Group] = map[string]bool{}
				}
				s.groups[r.Def.Group][v.Name] = true
			}
		}
	}
	c.current.Store(s)
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

// waitApplied waits until definitions up to revision are in the snapshot.
func (c *Catalog) waitApplied(ctx context.Context, revision int64) error {
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
