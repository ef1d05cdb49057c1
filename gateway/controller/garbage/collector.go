package garbage

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
)

// Objects is what can be collected. Errors are the API's status errors; what
// is returned belongs to the caller, but for definitions.
type Objects interface {
	// FindMetadata reads the metadata of a kind's objects ("" = of any name, in
	// all namespaces) whose stored form holds one of texts, from the cache. An
	// object that merely mentions a text is found too. It never converts; of an
	// object whose metadata cannot be read only namespace and name are filled
	// in.
	FindMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string, texts ...string) ([]metav1.PartialObjectMetadata, error)
	// UpdateMetadata changes the metadata of the object that p means, without
	// converting it. change may be called several times, and only takes away
	// finalizers and owner references, or weakens these.
	UpdateMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string, p metav1.Preconditions, change func(metav1.Object)) error
	// Delete deletes like a client's DELETE; finalizers are honoured. It works
	// on stored metadata and never converts.
	Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error
	// Fresh waits until the cache holds everything that was committed before
	// the call.
	Fresh(ctx context.Context) error
	// Kinds returns the definitions that are served, those of all custom
	// resources that the cache has seen among them. They are shared and not to
	// be changed.
	Kinds(ctx context.Context) ([]*crd.Definition, error)
}

// Collector carries out the finalizers of deleted owners.
type Collector struct {
	objects Objects
	waits   waits
}

var (
	_ controller.Seeded     = (*Collector)(nil)
	_ controller.Selective  = (*Collector)(nil)
	_ controller.Concurrent = (*Collector)(nil)
)

// New returns the controller for all objects of every kind.
func New(objects Objects) *Collector { return &Collector{objects: objects} }

// Name implements [controller.Controller].
func (c *Collector) Name() string { return "garbage-collector" }

// Watches implements [controller.Controller]: what there is to watch comes and
// goes, and is followed instead.
func (c *Collector) Watches() []schema.GroupResource { return nil }

// Workers implements [controller.Concurrent].
func (c *Collector) Workers() int { return 4 }

// everything stands for the kinds that are served.
var everything = controller.Key{GroupResource: kinds.Definitions}

// Seeds implements [controller.Seeded].
func (c *Collector) Seeds() []controller.Key { return []controller.Key{everything} }

// Concerns implements [controller.Selective].
func (c *Collector) Concerns(ctx context.Context, key controller.Key) bool {
	if c.waits.concern(key) {
		return true
	}
	owner, err := c.held(ctx, key)
	return owner != nil || err != nil
}

// Reconcile implements [controller.Controller].
func (c *Collector) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key == everything {
		return c.followKinds(ctx, q)
	}
	for _, owner := range c.waits.on(key) {
		q.Add(owner)
	}
	owner, err := c.held(ctx, key)
	if owner != nil { // what is decided on has to be the last state
		if err = c.objects.Fresh(ctx); err == nil {
			owner, err = c.held(ctx, key)
		}
	}
	if err != nil {
		return err
	}
	if owner == nil {
		c.waits.forget(key)
		return nil
	}
	defs, err := c.objects.Kinds(ctx)
	if err != nil {
		return err
	}
	if owner.orphans() {
		c.waits.forget(key)
		return c.orphan(ctx, graph{c.objects, defs}, *owner)
	}
	return c.foreground(ctx, q, graph{c.objects, defs}, *owner)
}

// followKinds follows the objects of every kind that is served, and the
// definitions, with which the kinds change.
func (c *Collector) followKinds(ctx context.Context, q controller.Queue) error {
	defs, err := c.objects.Kinds(ctx)
	if err != nil {
		return err
	}
	scopes := []controller.Scope{{GroupResource: kinds.Definitions}}
	for _, d := range defs {
		scopes = append(scopes, controller.Scope{GroupResource: d.GroupResource(), Each: true})
	}
	q.Follow(everything, scopes...)
	// The ends of dependents that nobody followed yet went unnoticed.
	for _, owner := range c.waits.all() {
		q.Add(owner)
	}
	return nil
}

// held is an object whose deletion waits for the collector, or nil.
func (c *Collector) held(ctx context.Context, key controller.Key) (*node, error) {
	found, err := c.objects.FindMetadata(ctx, key.GroupResource, key.Namespace, key.Name,
		metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents)
	if apierrors.IsNotFound(err) {
		return nil, nil // nor is the kind served any more
	}
	if err != nil || len(found) == 0 {
		return nil, err
	}
	n := node{key, found[0].ObjectMeta}
	if !n.orphans() && !n.deletesDependents() {
		return nil, nil
	}
	return &n, nil
}

// release takes a finalizer from an owner.
func (c *Collector) release(ctx context.Context, owner node, finalizer string) error {
	return owner.update(ctx, c.objects, owner.as(false), func(m metav1.Object) {
		m.SetFinalizers(slices.DeleteFunc(slices.Clone(m.GetFinalizers()), func(f string) bool { return f == finalizer }))
	})
}
