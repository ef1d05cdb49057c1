package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

// beforeFirstApply owns what was there when an object that has no
// managedFields is applied to.
const beforeFirstApply = "before-first-apply"

// Apply merges a configuration into the present state. The error is the
// client's, as it is (409 with a cause for each field that another manager
// owns, 400, or what kube-apiserver says about a configuration that does not
// fit the schema), one of [Versions], or that of ctx.
func (k *Kind) Apply(ctx context.Context, c Change) (out Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic while applying: %v", r)
		}
		if err != nil {
			out, err = Outcome{}, cmp.Or(ctx.Err(), failure(err))
		}
	}()
	return k.apply(ctx, &c)
}

func (k *Kind) apply(ctx context.Context, c *Change) (Outcome, error) {
	if err := checkConfiguration(c, k.def.GVK(c.Version)); err != nil {
		return Outcome{}, err
	}
	live, err := decodeAll(c.LiveManaged)
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
	tree, managed, err := w.apply(managed)
	if err != nil {
		return Outcome{}, err
	}
	if tree == nil {
		tree = w.live
	}
	if tree, err = w.updateLastApplied(tree); err != nil {
		return Outcome{}, err
	}
	return Outcome{Tree: tree, Managed: managed.encode(), SameOwners: sameOwners(live, managed)}, nil
}

// checkConfiguration refuses what no apply may carry.
func checkConfiguration(c *Change, want schema.GroupVersionKind) error {
	api, _ := c.New["apiVersion"].(string)
	kind, _ := c.New["kind"].(string)
	if gvk := schema.FromAPIVersionAndKind(api, kind); gvk != want {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid object type: %v", gvk))
	}
	meta, _ := c.New["metadata"].(map[string]any)
	if list, ok := meta["managedFields"].([]any); ok && list != nil {
		return apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	return nil
}

// beforeFirst are the entries of an object that nobody tracked yet.
func (w *write) beforeFirst() (entries, error) {
	own := w.entry(opUpdate)
	own.id.manager = beforeFirstApply
	return w.update(w.v.empty(), w.live, nil, own, nil)
}

// apply is the merged tree, nil if it is the live one, and its entries.
func (w *write) apply(managed entries) (map[string]any, entries, error) {
	tree, out, err := w.merge(managed, w.c.Force)
	var found *conflicts
	if !errors.As(err, &found) {
		return tree, out, err
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

// merge applies the configuration once.
func (w *write) merge(managed entries, force bool) (map[string]any, entries, error) {
	config, err := w.v.typed(w.c.New)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to create typed patch object (%s): %w", w.describe(w.c.New), err)
	}
	live, err := w.v.typed(w.live, typed.AllowDuplicates)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to create typed live object (%s): %w", w.describe(w.live), err)
	}
	managed = append(make(entries, 0, len(managed)+1), managed...)
	if managed, err = w.reconcile(managed); err != nil {
		return nil, nil, err
	}
	merged, err := live.Merge(config)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to merge config: %w", err)
	}
	set, err := config.ToFieldSet()
	if err != nil {
		return nil, nil, fmt.Errorf("failed to get field set: %w", err)
	}
	if r := w.resets[w.v.api]; r != nil {
		set = set.RecursiveDifference(r)
	}
	own := w.entry(opApply)
	if own.fields, err = sets.of(set); err != nil {
		return nil, nil, err
	}
	var last *entry
	now := own.at
	own.at = nil
	if i := managed.find(own.id); i >= 0 {
		e := managed[i]
		last, own.at = &e, e.at
	}
	managed = managed.set(own)
	if merged, err = w.prune(merged, managed, own, last); err != nil {
		return nil, nil, fmt.Errorf("failed to prune fields: %w", err)
	}
	tree, _ := merged.AsValue().Unstructured().(map[string]any)
	diff, err := w.compare(w.v, w.live, tree)
	if err != nil {
		return nil, nil, err
	}
	claims, gone, err := w.claims(managed, diff, &own.id, func(to *version) (map[string]any, error) {
		return w.c.Versions.Convert(w.ctx, tree, w.v.crd.Name, to.crd.Name)
	})
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
	same := value.Equals(live.AsValue(), merged.AsValue())
	if managed, err = w.finishOwn(managed, own.id); err != nil {
		return nil, nil, err
	}
	if same {
		return nil, managed, nil
	}
	if i := managed.find(own.id); i >= 0 {
		managed[i].at = now
	}
	return tree, managed, nil
}

// finishOwn drops what is never owned from the applier's entry.
func (w *write) finishOwn(managed entries, id identity) (entries, error) {
	i := managed.find(id)
	if i < 0 {
		return managed, nil
	}
	set := strip(managed[i].fields.set)
	if set.Empty() {
		return managed.remove(id), nil
	}
	var err error
	managed[i].fields, err = sets.of(set)
	return managed, err
}

func (w *write) describe(tree map[string]any) string { return describe(tree, w.k.gvk(w.c.Version)) }

// prune removes from the merged object what the applier applied last time, does
// not apply now, and nobody else owns.
func (w *write) prune(merged *typed.TypedValue, managed entries, own entry, last *entry) (*typed.TypedValue, error) {
	if last == nil || last.fields.set.Empty() {
		return merged, nil
	}
	p := pruner{w: w, at: w.v, merged: merged}
	v := w.version(last.version)
	if err := p.to(v); err != nil {
		if errors.Is(err, ErrNoVersion) {
			return merged, nil
		}
		return nil, fmt.Errorf("failed to convert merged object to last applied version: %w", err)
	}
	base := p.merged
	t := named(rootType)
	p.pruned = base.RemoveItems(last.fields.set.EnsureNamedFieldsAreMembers(v.types(), t))
	if err := p.addBack(managed, last.version); err != nil {
		return nil, fmt.Errorf("failed add back owned items: %w", err)
	}
	if err := p.keepDangling(v, base, last); err != nil {
		return nil, fmt.Errorf("failed add back dangling items: %w", err)
	}
	p.merged = nil
	if err := p.to(w.v); err != nil {
		return nil, err
	}
	return p.pruned, nil
}

// keepDangling lets nothing be removed from base but what the applier owned.
func (p *pruner) keepDangling(v *version, base *typed.TypedValue, last *entry) error {
	if err := p.to(v); err != nil {
		return fmt.Errorf("failed to convert pruned object to last applied version: %w", err)
	}
	prunedSet, err := p.pruned.ToFieldSet()
	if err != nil {
		return fmt.Errorf("failed to create field set from pruned object in last applied version: %w", err)
	}
	mergedSet, err := base.ToFieldSet()
	if err != nil {
		return fmt.Errorf("failed to create field set from merged object in last applied version: %w", err)
	}
	ensure := func(s *fieldpath.Set) *fieldpath.Set {
		return s.EnsureNamedFieldsAreMembers(v.types(), named(rootType))
	}
	p.pruned = base.RemoveItems(ensure(mergedSet).Difference(ensure(prunedSet)).Intersection(ensure(last.fields.set)))
	return nil
}

// pruner holds the merged object and the one with less in it, both at one
// version.
type pruner struct {
	w      *write
	at     *version
	merged *typed.TypedValue
	pruned *typed.TypedValue
}

// to brings both objects to a version.
func (p *pruner) to(v *version) error {
	merged, err := p.convert(p.merged, v)
	if err != nil {
		return fmt.Errorf("failed to convert merged object at version %s: %w", v.api, err)
	}
	pruned, err := p.convert(p.pruned, v)
	if err != nil {
		return fmt.Errorf("failed to convert pruned object at version %s: %w", v.api, err)
	}
	p.at, p.merged, p.pruned = v, merged, pruned
	return nil
}

func (p *pruner) convert(t *typed.TypedValue, v *version) (*typed.TypedValue, error) {
	if t == nil {
		return nil, nil
	}
	tree, ok := t.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("failed to convert value to unstructured for type %T", t.AsValue().Unstructured())
	}
	if p.at == v {
		return t, nil
	}
	out, err := p.w.c.Versions.Convert(p.w.ctx, tree, p.at.crd.Name, v.crd.Name)
	if err != nil {
		return nil, err
	}
	return v.typed(out)
}

// addBack adds to the pruned object what somebody owns: first what is owned at
// the version it was pruned at, since without it a conversion may fail.
func (p *pruner) addBack(managed entries, first string) error {
	owned := map[string]*fieldpath.Set{}
	order := []string{first}
	for i := range managed {
		api := managed[i].version
		if owned[api] == nil {
			owned[api] = &fieldpath.Set{}
			if api != first {
				order = append(order, api)
			}
		}
		owned[api] = owned[api].Union(managed[i].fields.set)
	}
	for _, api := range order {
		if owned[api] == nil {
			continue
		}
		v := p.w.version(api)
		if v == nil {
			continue
		}
		if err := p.addBackAt(v, owned[api]); err != nil && !errors.Is(err, ErrNoVersion) {
			return err
		}
	}
	return nil
}

func (p *pruner) addBackAt(v *version, owned *fieldpath.Set) error {
	if err := p.to(v); err != nil {
		return err
	}
	mergedSet, err := p.merged.ToFieldSet()
	if err != nil {
		return err
	}
	prunedSet, err := p.pruned.ToFieldSet()
	if err != nil {
		return err
	}
	ensure := func(s *fieldpath.Set) *fieldpath.Set {
		return s.EnsureNamedFieldsAreMembers(v.types(), named(rootType))
	}
	p.pruned = p.merged.RemoveItems(ensure(mergedSet).Difference(ensure(prunedSet).Union(ensure(owned))))
	return nil
}
