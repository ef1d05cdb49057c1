package managedfields

import (
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/managedfields/merge"
)

// errNothingLeft is what kube-apiserver says of an object without fields.
var errNothingLeft = errors.New("failed to convert value to unstructured for type <nil>")

// prune removes from the merged object what the applier applied last time, does
// not apply now (which is set), and nobody else owns.
func (w *write) prune(merged any, managed entries, set *fieldpath.Set, last *entry) (any, error) {
	if last.fields.empty() {
		return merged, nil
	}
	if last.version == w.v.api && covers(set, last.fields.set) && !last.fields.holds(w.v.types()) {
		return merged, nil // nothing was left out
	}
	v := w.k.versions[last.version]
	base, err := w.at(merged, w.v, v)
	if err != nil {
		if errors.Is(err, ErrNoVersion) {
			return merged, nil
		}
		return nil, fmt.Errorf("failed to convert merged object to last applied version: %w", err)
	}
	t := v.types()
	p := pruner{w: w, set: set, v: v, merged: base, pruned: t.Remove(base, t.Named(last.fields.set))}
	if err := p.addBack(managed, v); err != nil {
		return nil, fmt.Errorf("failed add back owned items: %w", err)
	}
	pruned, err := p.keepDangling(v, base, last)
	if err != nil {
		return nil, fmt.Errorf("failed add back dangling items: %w", err)
	}
	return w.at(pruned, v, w.v)
}

// at brings an object from one version to another. What has no fields left
// cannot be brought anywhere.
func (w *write) at(object any, from, to *version) (any, error) {
	fields, ok := object.(map[string]any)
	if !ok {
		return nil, errNothingLeft
	}
	if from == to {
		return object, nil
	}
	out, err := w.c.Versions.Convert(w.ctx, fields, from.Name, to.Name)
	if err != nil {
		return nil, err
	}
	return out, to.types().Validate(out, true)
}

// pruner holds the merged object and the one with less in it, both at version
// v. Both go from version to version the same way: what a conversion loses is
// missing in both, and counts as removed by nobody.
type pruner struct {
	w      *write
	set    *fieldpath.Set // what is applied, at the version of the request
	v      *version
	merged any
	pruned any
}

// addBack adds to the pruned object what somebody owns: first what is owned at
// the version it was pruned at, since without it a conversion may fail.
func (p *pruner) addBack(managed entries, first *version) error {
	owned := map[*version][]*fieldpath.Set{p.w.v: {p.set}}
	order := []*version{first, p.w.v}
	for i := range managed {
		v := p.w.k.versions[managed[i].version]
		if owned[v] == nil {
			order = append(order, v)
		}
		owned[v] = append(owned[v], managed[i].fields.set)
	}
	for i, v := range order {
		if owned[v] == nil || slices.Index(order, v) < i {
			continue
		}
		if merge.Equal(p.pruned, p.merged) {
			return nil // nothing is missing any more
		}
		if err := p.addBackAt(v, union(owned[v])); err != nil && !errors.Is(err, ErrNoVersion) {
			return err
		}
	}
	return nil
}

func (p *pruner) addBackAt(v *version, owned *fieldpath.Set) error {
	merged, err := p.w.at(p.merged, p.v, v)
	if err != nil {
		return fmt.Errorf("failed to convert merged object at version %s: %w", v.api, err)
	}
	pruned, err := p.w.at(p.pruned, p.v, v)
	if err != nil {
		return fmt.Errorf("failed to convert pruned object at version %s: %w", v.api, err)
	}
	t := v.types()
	missing := t.Named(t.Fields(merged, false)).Difference(t.Named(t.Fields(pruned, false)).Union(t.Named(owned)))
	p.v, p.merged, p.pruned = v, merged, t.Remove(merged, missing)
	return nil
}

// keepDangling is base, at version v, without what is not in the pruned object
// and was the applier's.
func (p *pruner) keepDangling(v *version, base any, last *entry) (any, error) {
	pruned, err := p.w.at(p.pruned, p.v, v)
	if err != nil {
		return nil, fmt.Errorf("failed to convert pruned object to last applied version: %w", err)
	}
	t := v.types()
	missing := t.Named(t.Fields(base, false)).Difference(t.Named(t.Fields(pruned, false)))
	return t.Remove(base, missing.Intersection(t.Named(last.fields.set))), nil
}
