package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// write is one change being worked on.
type write struct {
	ctx context.Context
	k   *Kind
	c   *Change
	v   *version
	// live is the present state, an empty object if there is none.
	live map[string]any

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

// now is the entry of the writer, without fields.
func (w *write) entry(operation string) entry {
	manager := w.c.Manager
	if manager == "" {
		manager = "unknown"
	}
	at := w.c.Time.UTC()
	return entry{
		id:      identify(manager, operation, w.v.api, w.c.Subresource),
		version: w.v.api,
		at:      &at,
	}
}

// version finds the version that an entry speaks of; nil for one that is gone.
func (w *write) version(api string) *version { return w.k.versions[api] }

// other are objects at another version than the request's.
type pair struct{ live, next map[string]any }

// compare tells what changes from live to next, without what the write cannot
// change.
func (w *write) compare(v *version, live, next map[string]any) (*typed.Comparison, error) {
	l, err := v.typed(live, typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	n, err := v.typed(next, typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	diff, err := l.Compare(n)
	if err != nil {
		return nil, err
	}
	return diff.ExcludeFields(w.resets[v.api]), nil
}

// convertNext is a function that brings the new state to another version.
type convertNext func(to *version) (map[string]any, error)

// liveAt is the present state at a version.
func (w *write) liveAt(v *version) (map[string]any, error) {
	switch {
	case v == w.v:
		return w.live, nil
	case w.c.Live == nil:
		return v.empty(), nil
	}
	return w.c.Versions.Live(w.ctx, v.crd.Name)
}

// reconcile brings entries into agreement with schemas that changed since they
// were written, and drops those of versions that are gone.
func (w *write) reconcile(es entries) (entries, error) {
	out := es[:0]
	for _, e := range es {
		v := w.version(e.version)
		if v == nil {
			continue
		}
		t := typed.AsTypedUnvalidated(nil, v.types(), named(rootType))
		set, err := typed.ReconcileFieldSetWithSchema(e.fields.set, t)
		if err != nil {
			return nil, err
		}
		if set != nil {
			if e.fields, err = sets.of(set); err != nil {
				return nil, err
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// claim is what one entry loses.
type claim struct {
	entry     int
	conflicts *fieldpath.Set
	removed   *fieldpath.Set
}

// claims finds what the entries of others, all but self, lose by a change from
// live to next. Entries whose version turns out to be gone are in gone.
func (w *write) claims(es entries, diff *typed.Comparison, self *identity, next convertNext) (claims []claim, gone []identity, err error) {
	diffs := map[string]*typed.Comparison{w.v.api: diff}
	for i := range es {
		if self != nil && es[i].id == *self {
			continue
		}
		d, known := diffs[es[i].version]
		if !known {
			d, err = w.compareAt(w.version(es[i].version), next)
			if err != nil && !errors.Is(err, ErrNoVersion) {
				return nil, nil, err
			}
			diffs[es[i].version] = d
		}
		if d == nil {
			gone = append(gone, es[i].id)
			continue
		}
		c := claim{entry: i, removed: d.Removed}
		c.conflicts = es[i].fields.set.Intersection(d.Modified.Union(d.Added))
		claims = append(claims, c)
	}
	return claims, gone, nil
}

func (w *write) compareAt(v *version, next convertNext) (*typed.Comparison, error) {
	live, err := w.liveAt(v)
	if err != nil {
		return nil, err
	}
	n, err := next(v)
	if err != nil {
		return nil, err
	}
	return w.compare(v, live, n)
}

// take removes from the entries what they lose, and all that are left empty.
func take(es entries, claims []claim, gone []identity) (entries, error) {
	for _, c := range claims {
		if c.conflicts.Empty() && c.removed.Empty() {
			continue
		}
		f, err := sets.of(es[c.entry].fields.set.Difference(c.conflicts).Difference(c.removed))
		if err != nil {
			return nil, err
		}
		es[c.entry].fields = f
	}
	return slices.DeleteFunc(es, func(e entry) bool {
		return e.fields.set.Empty() || slices.Contains(gone, e.id)
	}), nil
}

// strip removes what is never owned.
func strip(set *fieldpath.Set) *fieldpath.Set { return set.Difference(neverOwned) }

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
