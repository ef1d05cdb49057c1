package garbage

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// standing is what becomes of a dependent for the sake of one of its owners.
type standing int

const (
	// solid: the owner exists, or nobody can tell; the dependent stays.
	solid standing = iota
	// dangling: there is no such owner.
	dangling
	// waiting: the owner goes after its dependents.
	waiting
)

// attempt deletes a dependent that no owner keeps; from one that stays it takes
// the references to owners that do not keep it.
func (c *Collector) attempt(ctx context.Context, n node) error {
	round := c.index.nextRound()
	var lost, waits []types.UID
	kept, unresolved := false, false
	for _, r := range n.OwnerReferences {
		s, resolved, err := c.judge(ctx, n, r)
		if err != nil {
			return fmt.Errorf("look for owner %s %s of %s: %w", r.Kind, r.Name, n, err)
		}
		unresolved = unresolved || !resolved
		switch s {
		case solid:
			kept = true
		case dangling:
			lost = append(lost, r.UID)
		case waiting:
			waits = append(waits, r.UID)
		}
	}
	if unresolved {
		c.index.postpone(n.Key, round)
	}
	switch {
	case kept && len(lost)+len(waits) > 0:
		return c.disown(ctx, n, n.as(), append(lost, waits...)...)
	case kept:
		return nil
	case len(waits) > 0:
		return c.collectFor(ctx, n, waits)
	case n.DeletionTimestamp != nil:
		return nil
	}
	return c.delete(ctx, n, propagation(n, metav1.DeletePropagationBackground))
}

// collectFor deletes a dependent whose owners wait for that, with its own
// dependents first if it has any.
func (c *Collector) collectFor(ctx context.Context, n node, owners []types.UID) error {
	for _, uid := range owners {
		block := slices.ContainsFunc(n.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == uid && blocks(r) })
		if block && c.index.reach(n.UID, uid) {
			// They wait for each other: one has to stop. That wakes n again.
			return c.update(ctx, n, n.as(), unblock(uid))
		}
	}
	if n.DeletionTimestamp != nil {
		return nil
	}
	if !c.index.owns(n.UID) { // that it has no dependents has to be the last state
		if err := c.sync(ctx); err != nil {
			return err
		}
	}
	policy := metav1.DeletePropagationBackground
	if c.index.owns(n.UID) {
		policy = metav1.DeletePropagationForeground
	}
	return c.delete(ctx, n, propagation(n, policy))
}

// propagation is what is asked to become of the dependents of n, unless that was
// said by a finalizer already.
func propagation(n node, policy metav1.DeletionPropagation) *metav1.DeletionPropagation {
	if slices.Contains(n.Finalizers, metav1.FinalizerOrphanDependents) || slices.Contains(n.Finalizers, metav1.FinalizerDeleteDependents) {
		return nil
	}
	return &policy
}

// disown takes the references to owners from n.
func (c *Collector) disown(ctx context.Context, n node, p metav1.Preconditions, owners ...types.UID) error {
	if err := c.update(ctx, n, p, disown(owners...)); err != nil {
		return fmt.Errorf("take references from %s: %w", n, err)
	}
	return nil
}

// judge tells what an owner reference is worth. One that is not resolved, of a
// kind that is not served, may be worth something else once it is.
func (c *Collector) judge(ctx context.Context, n node, r metav1.OwnerReference) (s standing, resolved bool, err error) {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	if err != nil {
		return solid, true, nil // nor will it ever mean anything
	}
	kind := schema.GroupKind{Group: gv.Group, Kind: r.Kind}
	d := c.definition(kind)
	switch {
	case d == nil && c.index.lost(r.UID, kind, n.Key.Namespace, r.Name):
		return dangling, true, nil
	case d == nil:
		return solid, false, nil
	case d.Namespaced && n.Key.Namespace == "":
		// Which of all namespaces is meant nobody can tell, not even of an owner
		// that was seen to go: the reference never meant anything.
		c.reports.misplaced(ctx, n, r)
		return solid, true, nil
	}
	place := controller.Key{GroupResource: d.GroupResource(), Name: r.Name}
	if d.Namespaced {
		place.Namespace = n.Key.Namespace
	}
	lacks, elsewhere := c.index.lacks(r.UID, place)
	switch {
	case elsewhere:
		c.reports.misplaced(ctx, n, r)
		return dangling, true, nil
	case lacks:
		return dangling, true, nil
	}
	m, err := c.owner(ctx, place, r.UID)
	switch {
	case apierrors.IsNotFound(err):
		if d.Namespaced {
			if elsewhere, err = c.elsewhere(ctx, r, place); err != nil {
				return solid, true, err
			}
		}
		if elsewhere {
			c.reports.misplaced(ctx, n, r)
		}
		c.index.lack(r.UID, absence{place, elsewhere})
		return dangling, true, nil
	case meta.IsNoMatchError(err): // its definition has just gone: what it left may come back
		return solid, false, nil
	case err != nil:
		return solid, true, err
	case deletesDependents(m):
		return waiting, true, nil
	}
	return solid, true, nil
}

// owner reads the object of a uid at a place. What the cache does not have the
// store is asked for. An object that cannot be read may be the one.
func (c *Collector) owner(ctx context.Context, place controller.Key, uid types.UID) (m *metav1.ObjectMeta, err error) {
	for _, live := range []bool{false, true} {
		m, err = c.objects.Ownership(ctx, place.GroupResource, place.Namespace, place.Name, live)
		if err == nil && m.UID != uid && m.UID != "" {
			err = apierrors.NewNotFound(place.GroupResource, place.Name)
		}
		if !apierrors.IsNotFound(err) {
			break
		}
	}
	return m, err
}
