package garbage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// release does what the deletion of an owner waits for, and lets it go.
func (c *Collector) release(ctx context.Context, seen node) error {
	if err := c.sync(ctx); err != nil {
		return err
	}
	owner, err := c.look(ctx, seen.Key) // what is decided on has to be the last state
	if owner == nil || err != nil || owner.UID != seen.UID {
		return err
	}
	switch {
	case orphans(owner.ObjectMeta):
		return c.orphan(ctx, *owner)
	case deletesDependents(owner.ObjectMeta):
		return c.foreground(ctx, *owner)
	}
	return nil
}

// orphan takes the references to owner from its dependents and lets it go. That
// waits for dependents that cannot be read or are not served, and for what may be
// one: when it is served and can be read again, it would be garbage.
func (c *Collector) orphan(ctx context.Context, owner node) error {
	if key, unread := c.index.unread(owner.Key); unread {
		return c.reports.heldUp(ctx, owner, "orphaned", key, "cannot be read and may be one")
	}
	dependents, _ := c.index.of(owner.UID, owner.Key.Namespace)
	err := each(ctx, dependents, func(key controller.Key) error {
		if owner.Key.Namespace != "" && owner.Key.Namespace != key.Namespace {
			return nil // refers to nothing in its own namespace
		}
		n, unread, err := c.read(ctx, key)
		if unread {
			return c.reports.heldUp(ctx, owner, "orphaned", key, "cannot be read")
		}
		if n == nil || err != nil {
			return err
		}
		return c.disown(ctx, *n, metav1.Preconditions{UID: &n.UID}, owner.UID)
	})
	if err != nil {
		return err
	}
	by, why, err := unserved(ctx, c.source, c.stored, c.definedNames(), owner)
	switch {
	case err != nil:
		return err
	case why != "":
		return c.reports.heldUp(ctx, owner, "orphaned", by, why)
	}
	return c.finish(ctx, owner, metav1.FinalizerOrphanDependents)
}

// foreground has the dependents of owner deleted, and lets it go once none of
// them holds it up.
func (c *Collector) foreground(ctx context.Context, owner node) error {
	dependents, blocking := c.index.of(owner.UID, owner.Key.Namespace)
	if blocking == 0 {
		return c.finish(ctx, owner, metav1.FinalizerDeleteDependents)
	}
	for _, key := range dependents {
		c.wake(key)
	}
	for _, key := range c.index.blockers(owner.UID, owner.Key.Namespace) {
		_, unread, err := c.read(ctx, key)
		if unread { // so it will not go by itself
			return c.reports.heldUp(ctx, owner, "deleted", key, "cannot be read")
		}
		if err != nil {
			return err
		}
	}
	return nil // until the last of them wakes it
}

// finish takes a finalizer from an owner.
func (c *Collector) finish(ctx context.Context, owner node, finalizer string) error {
	return c.update(ctx, owner, owner.as(), func(m metav1.Object) {
		m.SetFinalizers(slices.DeleteFunc(slices.Clone(m.GetFinalizers()), func(f string) bool { return f == finalizer }))
	})
}

// atOnce is how many dependents of one owner are written at a time.
const atOnce = 8

// maxFailures is how many end the work on the dependents of one owner, until it
// is tried again: when the store is away, all of them would fail.
const maxFailures = 16

// each calls fn for all keys and joins what failed, unless too much does.
func each(ctx context.Context, keys []controller.Key, fn func(controller.Key) error) error {
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu   sync.Mutex
		errs []error
	)
	workqueue.ParallelizeUntil(working, atOnce, len(keys), func(i int) {
		if err := fn(keys[i]); err != nil {
			mu.Lock()
			defer mu.Unlock()
			if errs = append(errs, err); len(errs) == maxFailures {
				cancel()
			}
		}
	})
	return errors.Join(append(errs, ctx.Err())...)
}

// delete deletes n as it was looked at.
func (c *Collector) delete(ctx context.Context, n node, policy *metav1.DeletionPropagation) error {
	if err := c.limit.Wait(ctx); err != nil {
		return err
	}
	p := n.as()
	err := c.objects.Delete(ctx, n.GroupResource, n.Key.Namespace, n.Key.Name, metav1.DeleteOptions{Preconditions: &p, PropagationPolicy: policy})
	if err == nil {
		c.metrics.GarbageCollected()
	}
	if err = gvr.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("delete %s: %w", n, err)
	}
	return nil
}
