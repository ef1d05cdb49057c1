package garbage

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
)

// recheck is how often an owner that waits is looked at without being told of
// a change.
const recheck = 10 * time.Second

// orphan takes the references to owner from its dependents and lets it go.
func (c *Collector) orphan(ctx context.Context, g graph, owner node) error {
	dependents, err := g.dependents(ctx, owner)
	if err != nil {
		return err
	}
	err = each(ctx, dependents, func(n node) error { return c.disown(ctx, n, owner.UID, n.as(false)) })
	if err != nil {
		return err
	}
	return c.release(ctx, owner, metav1.FinalizerOrphanDependents)
}

// foreground deletes the dependents of owner, and lets it go once none of them
// holds it up.
func (c *Collector) foreground(ctx context.Context, q controller.Queue, g graph, owner node) error {
	dependents, err := g.dependents(ctx, owner)
	if err != nil {
		return err
	}
	blocking := slices.DeleteFunc(slices.Clone(dependents), func(n node) bool { return !n.blocks(owner.UID) })
	// Before anything is deleted, so that no end goes unnoticed.
	c.waits.set(owner.Key, blocking)
	if err := each(ctx, dependents, func(n node) error { return c.collect(ctx, g, n, owner) }); err != nil {
		return err
	}
	if len(blocking) > 0 {
		q.AddAfter(owner.Key, recheck)
		return nil
	}
	if err := c.release(ctx, owner, metav1.FinalizerDeleteDependents); err != nil {
		return err
	}
	c.waits.forget(owner.Key)
	return nil
}

// collect deletes a dependent that has no other owner, with its own dependents
// first if it has any.
func (c *Collector) collect(ctx context.Context, g graph, n, owner node) error {
	if n.blocks(owner.UID) && c.waits.reach(n.Key, owner.Key) {
		// They wait for each other: one has to stop.
		return n.update(ctx, c.objects, n.as(false), unblock(owner.UID))
	}
	if n.DeletionTimestamp != nil {
		return nil
	}
	kept, err := g.kept(ctx, n, owner.UID)
	if err != nil {
		return err
	}
	if kept {
		return c.disown(ctx, n, owner.UID, n.as(true))
	}
	policy, err := propagation(ctx, g, n)
	if err != nil {
		return err
	}
	p := n.as(true) // nobody has given it another owner
	err = c.objects.Delete(ctx, n.GroupResource, n.Key.Namespace, n.Key.Name, metav1.DeleteOptions{Preconditions: &p, PropagationPolicy: policy})
	if err = kinds.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("delete %s: %w", n, err)
	}
	return nil
}

// propagation is what becomes of the dependents of n, which may have been said
// by a finalizer already.
func propagation(ctx context.Context, g graph, n node) (*metav1.DeletionPropagation, error) {
	if slices.Contains(n.Finalizers, metav1.FinalizerOrphanDependents) || slices.Contains(n.Finalizers, metav1.FinalizerDeleteDependents) {
		return nil, nil
	}
	policy := metav1.DeletePropagationBackground
	dependents, err := g.dependents(ctx, n)
	if len(dependents) > 0 {
		policy = metav1.DeletePropagationForeground
	}
	return &policy, err
}

// disown takes the references to an owner from n.
func (c *Collector) disown(ctx context.Context, n node, owner types.UID, p metav1.Preconditions) error {
	err := n.update(ctx, c.objects, p, func(m metav1.Object) {
		m.SetOwnerReferences(slices.DeleteFunc(slices.Clone(m.GetOwnerReferences()), func(r metav1.OwnerReference) bool { return r.UID == owner }))
	})
	if err != nil {
		return fmt.Errorf("take a reference from %s: %w", n, err)
	}
	return nil
}

// unblock lets an object hold up an owner no longer.
func unblock(owner types.UID) func(metav1.Object) {
	return func(m metav1.Object) {
		refs := slices.Clone(m.GetOwnerReferences())
		for i := range refs {
			if refs[i].UID == owner {
				refs[i].BlockOwnerDeletion = new(bool)
			}
		}
		m.SetOwnerReferences(refs)
	}
}
