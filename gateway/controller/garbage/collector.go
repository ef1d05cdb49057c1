package garbage

import (
	"context"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
)

// Objects is what can be collected.
type Objects interface {
	client.MetadataUpdater
	client.Deleter
	client.Creator
	client.Freshener
	// Ownership reads who owns an object and what holds up its deletion: uid,
	// resourceVersion, owner references, finalizers and deletion timestamp,
	// from the cache, or with live from the store itself. Of an object that is
	// there and cannot be read only namespace and name are filled in. It never
	// converts. Of a kind that is not served it is a meta.NoResourceMatchError.
	Ownership(ctx context.Context, gr schema.GroupResource, namespace, name string, live bool) (*metav1.ObjectMeta, error)
}

// Source tells of all objects.
type Source interface {
	// Kinds returns the definitions that are served, those of all custom
	// resources that the cache has seen among them. They are shared and not to
	// be changed.
	Kinds(ctx context.Context) ([]*crd.Definition, error)
	// Feed follows a kind from now on.
	Feed(gr schema.GroupResource) (Feed, error)
}

// Feed tells what becomes of a kind's objects. One goroutine uses it at a time.
// It goes on when the kind is redefined or served no longer.
type Feed interface {
	// Wait returns a channel that is closed once Next has something to tell.
	Wait() <-chan struct{}
	// Next calls fn for what happened since the last call, in order; first,
	// and when it has lost track, for everything that exists instead, and says
	// so with anew. With more there may be more to tell at once. gone is an
	// object as it was last. fn is given what [Objects] says of Ownership.
	Next(fn func(m *metav1.ObjectMeta, gone bool)) (anew, more bool, err error)
}

// Metrics is what the collector counts.
type Metrics interface {
	// GarbageSyncError counts failures to find out which kinds to follow.
	GarbageSyncError()
	// GarbageCollected counts dependents that were deleted.
	GarbageCollected()
}

// Options configure a [Collector].
type Options struct {
	Objects Objects
	Source  Source
	// Stored is what the store itself has of a custom resource, served or not. Of an
	// object that is there and cannot be read only namespace and name are filled in.
	Stored  client.MetadataLister
	Metrics Metrics
	// Log receives what no object can be told.
	Log zerolog.Logger
	// Rate is how many writes to make in a second at most; zero means
	// DefaultRate.
	Rate int
}

// DefaultRate leaves two cores enough time for everybody else, and takes
// 100,000 dependents of one owner away within a minute.
const DefaultRate = 2500

// workers is how many objects are looked at, and written, at a time. The store
// commits concurrent writes together.
const workers = 16

// Collector deletes what has lost its owners, and carries out the finalizers of
// owners that go.
type Collector struct {
	objects Objects
	source  Source
	stored  client.MetadataLister
	metrics Metrics
	log     zerolog.Logger
	limit   flowcontrol.RateLimiter
	index   *index
	reports reports
	follower
}

var (
	_ controller.Working    = (*Collector)(nil)
	_ controller.Concurrent = (*Collector)(nil)
)

// New returns the controller for all objects of every kind. It serves one
// [controller.Run].
func New(o Options) *Collector {
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	c := &Collector{
		objects: o.Objects, source: o.Source, stored: o.Stored, metrics: o.Metrics, log: o.Log,
		limit: flowcontrol.NewTokenBucketRateLimiter(float32(o.Rate), max(1, o.Rate/10)),
	}
	c.follower.init()
	c.index = newIndex(c.wake)
	c.reports = reports{o.Objects, o.Log, c.served}
	return c
}

// Name implements [controller.Controller].
func (c *Collector) Name() string { return "garbage-collector" }

// Watches implements [controller.Controller]: what there is to watch comes and
// goes, and is followed by the collector itself.
func (c *Collector) Watches() []schema.GroupResource { return nil }

// Workers implements [controller.Concurrent].
func (c *Collector) Workers() int { return workers }

// Reconcile implements [controller.Controller]: it looks at an object as an
// owner that is being deleted, and as a dependent.
func (c *Collector) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	n, err := c.look(ctx, key)
	if n == nil || err != nil {
		return err
	}
	if orphans(n.ObjectMeta) || deletesDependents(n.ObjectMeta) {
		if err := c.release(ctx, *n); err != nil {
			return err
		}
	}
	if len(n.OwnerReferences) == 0 {
		return nil
	}
	return c.attempt(ctx, *n)
}

// look reads an object from the cache; nil if there is none that can be read.
func (c *Collector) look(ctx context.Context, key controller.Key) (*node, error) {
	n, _, err := c.read(ctx, key)
	return n, err
}

// read is look, and tells apart what is there and cannot be read.
func (c *Collector) read(ctx context.Context, key controller.Key) (n *node, unread bool, err error) {
	m, err := c.objects.Ownership(ctx, key.GroupResource, key.Namespace, key.Name, false)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case m.UID == "":
		return nil, true, nil
	}
	return &node{key, m}, false, nil
}
