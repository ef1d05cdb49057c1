package managedfields

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// write is one change being worked on.
type write struct {
	ctx context.Context
	k   *Kind
	c   *Change
	v   *version
	// live is the present state, an empty object if there is none.
	live map[string]any
	// resets are what the write cannot change, by apiVersion.
	resets map[string]*fieldpath.Set
}

func (k *Kind) write(ctx context.Context, c *Change) (*write, error) {
	v := k.versions[k.def.APIVersion(c.Version)]
	if v == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoVersion, c.Version)
	}
	w := &write{ctx: ctx, k: k, c: c, v: v, live: c.Live, resets: v.resets()[c.Subresource]}
	if w.live == nil {
		w.live = v.empty()
	}
	return w, nil
}

// entry is an entry of the writer, without fields.
func (w *write) entry(manager, operation string) entry {
	if manager == "" {
		manager = "unknown"
	}
	return entry{
		id:      identify(manager, operation, w.v.api, w.c.Subresource),
		version: w.v.api,
		at:      w.time(),
	}
}

// time is what the writer's entry is stamped with. Entries of writes through a
// scale have no time, as kube-apiserver has it.
func (w *write) time() *time.Time {
	if s := w.v.Subresources[w.c.Subresource]; s != nil && s.Scale != nil {
		return nil
	}
	at := w.c.Time.UTC()
	return &at
}

// reconcile brings entries, in place, into agreement with schemas that changed
// since they were written, and drops those of versions that are gone. Where that
// changes anything, the live object has to be one at the version of each entry,
// as in the library, which looks at it every time.
func (w *write) reconcile(es entries) (entries, error) {
	out, same := es[:0], true
	for _, e := range es {
		v := w.k.versions[e.version]
		if v == nil {
			same = false
			continue
		}
		fields, err := e.fields.reconcile(v.types())
		if err != nil {
			return nil, err
		}
		same = same && fields == e.fields
		e.fields = fields
		out = append(out, e)
	}
	if same || w.c.Live == nil {
		return out, nil
	}
	return out, w.liveAt(out)
}

// liveAt is an error unless the live object is valid at the version of each
// entry.
func (w *write) liveAt(es entries) error {
	seen := map[*version]bool{w.v: true}
	for _, e := range es {
		v := w.k.versions[e.version]
		if seen[v] {
			continue
		}
		seen[v] = true
		live, err := w.c.Versions.Live(w.ctx, v.Name)
		if err == nil {
			err = v.types().Validate(live, true)
		}
		if ignoreGone(err) != nil {
			return err
		}
	}
	return nil
}

// change is what a write changes, seen at one version, without what it cannot
// change.
type change struct {
	changed *fieldpath.Set // new or different
	removed *fieldpath.Set
	// equal: nothing is changed at all, not even what is no field.
	equal bool
}

func (w *write) change(v *version, from, to any) *change {
	d := v.types().Compare(from, to)
	d.Exclude(w.resets[v.api])
	return &change{changed: d.Changed(), removed: d.Removed, equal: d.Equal}
}

// convertNext brings the new state to another version.
type convertNext func(to *version) (map[string]any, error)

// changeAt is a change at another version than the request's; nil if there is
// no such version.
func (w *write) changeAt(v *version, convert convertNext) (*change, error) {
	live, next := v.empty(), map[string]any(nil)
	var err error
	if w.c.Live != nil {
		if live, err = w.c.Versions.Live(w.ctx, v.Name); err != nil {
			return nil, ignoreGone(err)
		}
	}
	if err := v.types().Validate(live, true); err != nil {
		return nil, err
	}
	if next, err = convert(v); err == nil {
		err = v.types().Validate(next, true)
	}
	if err != nil {
		if errors.Is(err, ErrNoVersion) {
			return nil, nil
		}
		return nil, fmt.Errorf("failed to convert new object: %w", err)
	}
	return w.change(v, live, next), nil
}

func ignoreGone(err error) error {
	if errors.Is(err, ErrNoVersion) {
		return nil
	}
	return err
}

// claim is what an entry loses by a write.
type claim struct {
	entry int
	// conflicts are fields that somebody else writes, lost are these and those
	// that are gone.
	conflicts *fieldpath.Set
	lost      *fieldpath.Set
}

// claims finds what entries lose by a change; those for which skip is true lose
// nothing. Entries whose version turns out to be gone are in gone.
func (w *write) claims(es entries, here *change, convert convertNext, skip func(identity) bool) (claims []claim, gone []identity, err error) {
	if here.equal {
		return nil, nil, nil
	}
	var others map[string]*change
	for i := range es {
		c := here
		if skip(es[i].id) {
			continue
		}
		if v := es[i].version; v != w.v.api {
			known := false
			if c, known = others[v]; !known {
				if c, err = w.changeAt(w.k.versions[v], convert); err != nil {
					return nil, nil, err
				}
				if others == nil {
					others = map[string]*change{}
				}
				others[v] = c
			}
			if c == nil {
				gone = append(gone, es[i].id)
				continue
			}
		}
		if one := c.claim(i, es[i].fields.set); one != nil {
			claims = append(claims, *one)
		}
	}
	return claims, gone, nil
}

// claim is what the owner of a set loses, nil for nothing.
func (c *change) claim(entry int, set *fieldpath.Set) *claim {
	conflicts := set.Intersection(c.changed)
	lost := conflicts
	if !c.removed.Empty() {
		lost = conflicts.Union(set.Intersection(c.removed))
	}
	if lost.Empty() {
		return nil
	}
	return &claim{entry: entry, conflicts: conflicts, lost: lost}
}

// take removes from entries, in place, what they lose, and all that are left
// empty.
func take(es entries, claims []claim, gone []identity) (entries, error) {
	for _, c := range claims {
		f, err := sets.of(es[c.entry].fields.set.Difference(c.lost))
		if err != nil {
			return nil, err
		}
		es[c.entry].fields = f
	}
	return slices.DeleteFunc(es, func(e entry) bool {
		return e.fields.empty() || slices.Contains(gone, e.id)
	}), nil
}

// covers tells that all of part is in set.
func covers(set, part *fieldpath.Set) bool {
	all := true
	part.Members.Iterate(func(e fieldpath.PathElement) { all = all && set.Members.Has(e) })
	part.Children.Iterate(func(e fieldpath.PathElement) {
		if !all {
			return
		}
		below, _ := part.Children.Get(e)
		if inner, ok := set.Children.Get(e); ok {
			all = covers(inner, below)
		} else {
			all = below.Empty()
		}
	})
	return all
}

// strip removes what is never owned.
func strip(set *fieldpath.Set) *fieldpath.Set {
	if set.Intersection(neverOwned).Empty() {
		return set
	}
	return set.Difference(neverOwned)
}

var neverOwned = func() *fieldpath.Set {
	set := &fieldpath.Set{}
	for _, path := range strings.Fields("apiVersion kind metadata metadata.name metadata.namespace " +
		"metadata.creationTimestamp metadata.selfLink metadata.uid metadata.clusterName metadata.generation " +
		"metadata.managedFields metadata.resourceVersion") {
		var p fieldpath.Path
		for _, name := range strings.Split(path, ".") {
			p = append(p, fieldpath.PathElement{FieldName: &name})
		}
		set.Insert(p)
	}
	return set
}()

// describe names an object in errors.
func (w *write) describe(object map[string]any) string {
	return fmt.Sprintf("%s; %s", named(object), w.k.def.GVK(w.c.Version))
}

// named is what an object says that it is called.
func named(object map[string]any) string {
	meta, _ := object["metadata"].(map[string]any)
	namespace, _ := meta["namespace"].(string)
	name, _ := meta["name"].(string)
	return namespace + "/" + name
}
