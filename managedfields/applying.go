package managedfields

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// beforeFirstApply owns what was there when an object that has no
// managedFields is applied to.
const beforeFirstApply = "before-first-apply"

// Apply merges a configuration into the present state. The error is the
// client's, as it is (409 with a cause for each field that another manager
// owns, 400, or what kube-apiserver says about a configuration that does not
// fit the schema), one of [Versions], or that of ctx.
//
// A panic is not contained here: who serves requests reports it.
func (k *Kind) Apply(ctx context.Context, c Change) (Outcome, error) {
	out, err := k.apply(ctx, &c)
	if err != nil {
		return Outcome{}, cmp.Or(ctx.Err(), failure(err))
	}
	return out, nil
}

func (k *Kind) apply(ctx context.Context, c *Change) (Outcome, error) {
	if err := checkConfiguration(c, k.def.GVK(c.Version)); err != nil {
		return Outcome{}, err
	}
	live, err := readLive(c.LiveManaged)
	if err != nil {
		return Outcome{}, fmt.Errorf("failed to decode managed fields: %w", err)
	}
	w, err := k.write(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	managed := append(make(entries, 0, len(live)+2), live...)
	if len(managed) == 0 {
		if managed, err = w.beforeFirst(); err != nil {
			return Outcome{}, fmt.Errorf("failed to create manager for existing fields: %w", err)
		}
	}
	merged, managed, err := w.apply(managed)
	if err != nil {
		return Outcome{}, err
	}
	if merged, err = w.updateLastApplied(merged); err != nil {
		return Outcome{}, err
	}
	return Outcome{Tree: merged, Managed: managed.encode(), SameOwners: sameOwners(live, managed)}, nil
}

// checkConfiguration refuses what no apply may carry.
func checkConfiguration(c *Change, want schema.GroupVersionKind) error {
	api, _ := c.New["apiVersion"].(string)
	kind, _ := c.New["kind"].(string)
	var have schema.GroupVersionKind // none where the version cannot be read
	if gv, err := schema.ParseGroupVersion(api); err == nil {
		have = gv.WithKind(kind)
	}
	if have != want {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid object type: %v", have))
	}
	meta, _ := c.New["metadata"].(map[string]any)
	if list, ok := meta["managedFields"].([]any); ok && list != nil {
		return apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	return nil
}

// beforeFirst are the entries of an object that nobody tracked yet.
func (w *write) beforeFirst() (entries, error) {
	return w.update(w.v.empty(), w.live, nil, w.entry(beforeFirstApply, opUpdate), nil)
}

// apply is the merged object, which may be the live one, and its entries.
func (w *write) apply(managed entries) (map[string]any, entries, error) {
	out, after, err := w.merge(managed, w.c.Force)
	var found *conflicts
	if !errors.As(err, &found) {
		return out, after, err
	}
	if w.c.Manager != kubectl {
		return nil, nil, found.status()
	}
	allowed := w.allowedByLastApplied()
	if allowed == nil {
		return nil, nil, found.status()
	}
	if left := found.without(allowed); len(left.list) > 0 {
		return nil, nil, left.status()
	}
	return w.merge(managed, true)
}

// merge applies the configuration once. It leaves managed as it is.
func (w *write) merge(managed entries, force bool) (map[string]any, entries, error) {
	if err := w.validate(); err != nil {
		return nil, nil, err
	}
	before := managed
	managed, err := w.reconcile(append(make(entries, 0, len(managed)+1), managed...))
	if err != nil {
		return nil, nil, err
	}
	set := w.applied()
	own, last, err := w.own(before, managed, set)
	if err != nil {
		return nil, nil, err
	}
	managed = managed.set(own)
	merged := w.v.types().Merge(w.live, w.c.New)
	if last != nil && (last.fields != own.fields || last.version != own.version || last.fields.holds(w.v.types())) {
		if merged, err = w.prune(merged, managed, set, last); err != nil {
			return nil, nil, fmt.Errorf("failed to prune fields: %w", err)
		}
	}
	out, ok := merged.(map[string]any)
	if !ok {
		return nil, nil, errNothingLeft
	}
	here := w.change(w.v, w.live, out)
	claims, gone, err := w.claims(managed, here, func(to *version) (map[string]any, error) {
		return w.c.Versions.Convert(w.ctx, out, w.v.Name, to.Name)
	}, own.id.is)
	if err != nil {
		return nil, nil, err
	}
	if !force {
		if found := conflictsOf(managed, claims); found != nil {
			return nil, nil, found
		}
	}
	if managed, err = take(managed, claims, gone); err != nil {
		return nil, nil, err
	}
	if here.equal {
		return w.live, managed, nil
	}
	if i := managed.find(own.id); i >= 0 {
		managed[i].at = w.time()
	}
	return out, managed, nil
}

// validate checks the configuration and what it is put over.
func (w *write) validate() error {
	t := w.v.types()
	if err := t.Validate(w.c.New, false); err != nil {
		return fmt.Errorf("failed to create typed patch object (%s): %w", w.describe(w.c.New), err)
	}
	if err := t.Validate(w.live, true); err != nil {
		return fmt.Errorf("failed to create typed live object (%s): %w", w.describe(w.live), err)
	}
	return nil
}

// applied is what the configuration sets.
func (w *write) applied() *fieldpath.Set {
	set := w.v.types().Fields(w.c.New, true)
	if r := w.resets[w.v.api]; r != nil {
		set = set.RecursiveDifference(r)
	}
	return set
}

// own is the applier's new entry, with the time of the one before, and that
// one, if there still is any: at a version that is gone it has nothing but its
// time left.
func (w *write) own(before, managed entries, set *fieldpath.Set) (own entry, last *entry, err error) {
	own = w.entry(w.c.Manager, opApply)
	own.at = nil
	if i := before.find(own.id); i >= 0 {
		own.at = before[i].at
	}
	if i := managed.find(own.id); i >= 0 {
		last = new(entry)
		*last = managed[i]
	}
	if set = strip(set); last != nil && last.fields.set.Equals(set) && !lossySet(set) {
		own.fields = last.fields
		return own, last, nil
	}
	own.fields, err = sets.of(set)
	return own, last, err
}
