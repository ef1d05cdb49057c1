package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// served is one custom resource and what it was compiled from.
type served struct {
	resource    *Resource
	converter   conversion.Converter
	fingerprint fingerprint
	stop        chan struct{}
	// shown tells that watchers go on with the form that came instead.
	shown bool
}

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
				if old := c.custom[e.Item.Key]; old != nil {
					old.resource.showing.until = e.Item.Revision
				}
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
	fingerprint fingerprint
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
	if f.fingerprint, err = newFingerprint(text); err != nil {
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
	old := c.custom[name]
	c.remove(name)
	stop := make(chan struct{})
	r := c.newResource(f.definition, f.converter)
	r.replaced, r.definition = stop, c.crds.Key("", name)
	if old != nil && old.fingerprint.form == f.fingerprint.form {
		r.showing, old.shown = old.resource.showing, true
	} else {
		r.showing = &showing{over: make(chan struct{})}
	}
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
		c.serve(name, e, compiled{definition: &last, converter: old.converter, fingerprint: old.fingerprint.ending()})
		return true
	}
	// What is being deleted takes no objects, and has to let go those that there are.
	if !old.resource.Def.Terminating && c.storesOtherwise(e, old.resource.Def.StorageVersion) {
		old.resource.unserved.Store(e.Revision)
		return false
	}
	old.resource.confirm(e.Revision)
	return false
}

// storesOtherwise tells whether a definition that cannot be served here may store objects at
// another version: they are read then, and nothing is written until it can be served. What
// was written all the same would be left behind by the migration of another gateway, which
// takes it for granted that everybody writes at the version that is stored.
func (c *Catalog) storesOtherwise(e *view.Entry, version string) bool {
	text, err := c.crds.JSON(e)
	if err != nil {
		return true
	}
	var d struct {
		Spec struct {
			Versions []struct {
				Name    string `json:"name"`
				Storage bool   `json:"storage"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if json.Unmarshal(text, &d) != nil {
		return true
	}
	for _, v := range d.Spec.Versions {
		if v.Storage && v.Name != version {
			return true
		}
	}
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
