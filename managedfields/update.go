package managedfields

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Update decides the managedFields of a write that is not an apply. Like
// kube-apiserver's it never fails for what is in the objects: managedFields
// that a client broke are ignored, and where ownership cannot be decided (a
// converter fails) the live ones stay. The error is that of ctx. A panic is not
// contained here, like that of an apply.
func (k *Kind) Update(ctx context.Context, c Change) (Outcome, error) {
	out, err := k.update(ctx, &c)
	if err != nil {
		return Outcome{Managed: c.LiveManaged, SameOwners: true}, ctx.Err()
	}
	return out, nil
}

func (k *Kind) update(ctx context.Context, c *Change) (Outcome, error) {
	live, managed := k.start(c)
	if len(managed) == 0 && c.Live != nil && uid(c.Live) != "" {
		// Who does not track fields does not begin with an update.
		return Outcome{SameOwners: len(live) == 0}, nil
	}
	w, err := k.write(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	managed, err = w.update(w.live, c.New, managed, w.entry(c.Manager, opUpdate), w.nextOfUpdate)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Managed: managed.encode(), SameOwners: sameOwners(live, managed)}, nil
}

func (w *write) nextOfUpdate(to *version) (map[string]any, error) {
	return w.c.Versions.New(w.ctx, to.Name)
}

// update is the entries after a change from live to next by own; it changes
// managed in place.
func (w *write) update(live, next map[string]any, managed entries, own entry, convert convertNext) (entries, error) {
	t := w.v.types()
	if err := t.Validate(next, true); err != nil {
		return nil, fmt.Errorf("failed to convert new object (%s) to smd typed: %w", w.describe(next), err)
	}
	if err := t.ValidateLike(live, next, true); err != nil {
		return nil, fmt.Errorf("failed to convert live object (%s) to smd typed: %w", w.describe(live), err)
	}
	managed, err := w.reconcile(managed)
	if err != nil {
		return nil, err
	}
	here := w.change(w.v, live, next)
	claims, gone, err := w.claims(managed, here, convert, own.id.is)
	if err != nil {
		return nil, err
	}
	own.fields, err = here.own(managed, own.id)
	if err != nil {
		return nil, err
	}
	if managed, err = take(managed, claims, gone); err != nil {
		return nil, err
	}
	if own.fields != nil {
		managed = managed.set(own)
	}
	return capUpdates(managed)
}

// own is what a manager owns after its change, nil if it changed nothing that
// can be owned; then what it loses by the change is removed from its entry, if
// there is one.
func (c *change) own(es entries, id identity) (*fieldSet, error) {
	written := strip(c.changed)
	i := es.find(id)
	if i < 0 {
		if written.Empty() {
			return nil, nil
		}
		return sets.of(written)
	}
	was := es[i].fields
	kept := was
	if lost := c.claim(i, was.set); lost != nil && !covers(written, lost.lost) {
		var err error
		if kept, err = sets.of(was.set.Difference(lost.lost)); err != nil {
			return nil, err
		}
	}
	if written.Empty() {
		es[i].fields = kept
		return nil, nil
	}
	if covers(kept.set, written) && !lossySet(written) {
		return kept, nil
	}
	return sets.of(written.Union(kept.set))
}

const (
	// maxUpdateManagers is how many entries of updates an object has at most.
	maxUpdateManagers = 10
	// bucketManager owns what the oldest of them owned.
	bucketManager = "ancient-changes"
)

// capUpdates merges the oldest entries of updates into one for each version
// while there are too many.
func capUpdates(es entries) (entries, error) {
	var updates []identity
	for i := range es {
		if !es[i].applied() {
			updates = append(updates, es[i].id)
		}
	}
	if len(updates) <= maxUpdateManagers {
		return es, nil
	}
	byID := make(map[identity]entry, len(es))
	for _, e := range es {
		byID[e.id] = e
	}
	sortByAge(updates, byID)
	first, merged := map[string]identity{}, map[identity][]*fieldpath.Set{} // merged is what buckets are made of
	left := len(updates)
	for _, id := range updates {
		if left <= maxUpdateManagers {
			break
		}
		e := byID[id]
		f, seen := first[e.version]
		if !seen {
			first[e.version] = id
			continue
		}
		bucket := identify(bucketManager, opUpdate, e.version, "")
		b, ok := byID[bucket]
		if !ok {
			b = byID[f]
			b.id = bucket
			delete(byID, f)
		}
		if merged[bucket] == nil {
			merged[bucket] = []*fieldpath.Set{b.fields.set}
		}
		merged[bucket] = append(merged[bucket], e.fields.set)
		b.at = e.at
		byID[bucket] = b
		delete(byID, id)
		if id == bucket {
			delete(merged, id)
		}
		left--
	}
	for id, all := range merged {
		e := byID[id]
		var err error
		if e.fields, err = sets.of(union(all)); err != nil {
			return nil, err
		}
		byID[id] = e
	}
	out := es[:0]
	for _, e := range byID {
		out = append(out, e)
	}
	return out, nil
}

// sortByAge puts the oldest entries first, and those of one second by who made them.
func sortByAge(all []identity, byID map[identity]entry) {
	slices.SortFunc(all, func(a, b identity) int {
		x, y := byID[a], byID[b]
		if c := cmp.Compare(x.seconds(), y.seconds()); c != 0 {
			return c
		}
		return cmp.Compare(a.text(), b.text())
	})
}

// union is all that is in sets, of which there is at least one. Halves are
// united, since one after the other many would be copied as often.
func union(all []*fieldpath.Set) *fieldpath.Set {
	if len(all) == 1 {
		return all[0]
	}
	half := len(all) / 2
	return union(all[:half]).Union(union(all[half:]))
}

func uid(tree map[string]any) string {
	meta, _ := tree["metadata"].(map[string]any)
	s, _ := meta["uid"].(string)
	return s
}
