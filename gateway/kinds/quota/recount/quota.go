// Package recount owns the status of ResourceQuotas as far as no write does: what a
// quota limits, once its spec says so, and what is used of it, when objects are
// deleted, end or become less.
//
// It must not know how writes are charged (gateway/kinds/quota), nor what an object
// uses (admission/plugin/resourcequota). Writes raise what is used in their own transactions;
// what this controller stores was counted after the state of the quota that it
// replaces, so nothing that was raised meanwhile is lost.
package recount

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission/plugin/resourcequota"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Objects are what the controller reads and writes.
type Objects interface {
	client.Lister
	client.Updater
	client.Follower
	client.Freshener
	// Visit calls fn for the objects of a kind in a namespace, in the cache,
	// until it fails.
	Visit(ctx context.Context, gr schema.GroupResource, namespace string, fn func(name string, revision int64, read func() (*unstructured.Unstructured, error)) error) error
}

// Controller keeps the status. It runs in one gateway.
type Controller struct {
	objects Objects
	// spaces are the namespaces with quotas. Reconciling has them for itself but
	// for mu.
	mu     sync.Mutex
	spaces map[string]*space
	kinds  followed
}

// New returns the controller.
func New(objects Objects) *Controller {
	return &Controller{objects: objects, spaces: map[string]*space{}, kinds: followed{news: make(chan struct{}, 1)}}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "resource-quotas" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource { return []schema.GroupResource{gvr.Quotas} }

// Resync implements [controller.Resyncing]: time alone makes a pod count no more
// that should have ended.
func (c *Controller) Resync() time.Duration { return 5 * time.Minute }

// Reconcile implements [controller.Controller]: it counts for all quotas of a
// namespace. The last count of a namespace is not repeated before some time has
// passed, so that counting takes little of it.
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	all, err := c.objects.List(ctx, gvr.Quotas, key.Namespace)
	if err != nil {
		return gvr.IgnoreNotFound(err)
	}
	s := c.space(key.Namespace, len(all) > 0)
	if s == nil {
		return nil
	}
	if wait := time.Until(s.rest); wait > 0 {
		q.AddAfter(inSpace(key.Namespace), wait)
		return nil
	}
	begun := time.Now()
	defer func() { s.rest = time.Now().Add(max(pause, 20*time.Since(begun))) }()
	// What was charged to the quotas that were read is in the cache, as an
	// object, only if it has reached them.
	if err := c.objects.Fresh(ctx); err != nil {
		return err
	}
	count := &count{c.objects, &c.kinds, ctx, key.Namespace, s, map[schema.GroupResource]resourcequota.Tally{}}
	var failed []error
	for _, obj := range all { // one that changes all the time, or cannot be counted, keeps no other waiting
		failed = append(failed, c.bring(ctx, count, obj))
	}
	s.keep(count.tallies)
	return errors.Join(failed...)
}

// pause is how long a namespace is not counted again at least.
const pause = 20 * time.Millisecond

func inSpace(namespace string) controller.Key {
	return controller.Key{GroupResource: gvr.Quotas, Namespace: namespace}
}

// space is what is remembered of a namespace; nil if it has no quotas, and then
// nothing is.
func (c *Controller) space(namespace string, has bool) *space {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !has {
		delete(c.spaces, namespace)
		return nil
	}
	s := c.spaces[namespace]
	if s == nil {
		s = &space{measured: map[schema.GroupResource]map[string]measured{}}
		c.spaces[namespace] = s
	}
	return s
}

// bring brings the status of one quota up to date.
func (c *Controller) bring(ctx context.Context, count *count, obj *unstructured.Unstructured) error {
	var q corev1.ResourceQuota
	if err := gvr.Decode(obj, &q); err != nil {
		return err
	}
	used, err := resourcequota.Used(&q, count.tally)
	if err != nil {
		return err
	}
	if resourcequota.Equal(q.Status.Hard, q.Spec.Hard) && resourcequota.Equal(q.Status.Used, used) {
		return nil
	}
	if err := gvr.SetStatus(obj, &corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: used}); err != nil {
		return err
	}
	_, err = c.objects.Update(ctx, gvr.Quotas, "status", obj)
	return gvr.IgnoreNotFound(err)
}

// space is what is remembered of a namespace with quotas.
type space struct {
	// rest is until when it is not counted.
	rest time.Time
	// measured are its objects, so that only those are read that changed.
	measured map[schema.GroupResource]map[string]measured
}

type measured struct {
	revision int64
	resourcequota.Measured
}

// keep forgets the objects of kinds that were not asked for.
func (s *space) keep(asked map[schema.GroupResource]resourcequota.Tally) {
	for gr := range s.measured {
		if _, ok := asked[gr]; !ok {
			delete(s.measured, gr)
		}
	}
}

// count is one count of a namespace.
type count struct {
	objects   Objects
	kinds     *followed
	ctx       context.Context
	namespace string
	space     *space
	tallies   map[schema.GroupResource]resourcequota.Tally
}

// tally counts the objects of a kind, once. Of a kind that is not served there
// are none.
func (c *count) tally(gr schema.GroupResource) (t resourcequota.Tally, err error) {
	if t, ok := c.tallies[gr]; ok {
		return t, nil
	}
	before, now := c.space.measured[gr], map[string]measured{}
	err = c.objects.Visit(c.ctx, gr, c.namespace, func(name string, revision int64, read func() (*unstructured.Unstructured, error)) error {
		t.Number++
		if !resourcequota.Measures(gr) {
			return nil
		}
		m, known := before[name]
		if !known || m.revision != revision || m.Passing {
			obj, err := read()
			if err != nil {
				return err
			}
			m.revision = revision
			if m.Measured, err = resourcequota.Measure(gr, obj.Object); err != nil {
				return err
			}
		}
		now[name] = m
		t.Each = append(t.Each, m.Measured)
		return nil
	})
	switch {
	case err == nil:
		c.kinds.want(gr)
	case !apierrors.IsNotFound(err):
		return t, err
	}
	c.space.measured[gr], c.tallies[gr] = now, t
	return t, nil
}
