package garbage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// follower is which kinds the collector follows.
type follower struct {
	// queue is what wake adds to; it is there before anything can wake.
	begin sync.Once
	queue controller.Queue
	// redefined has an element when a definition has changed.
	redefined chan struct{}

	// mu guards what is below.
	mu     sync.Mutex
	kinds  map[schema.GroupResource]*kind
	byKind map[schema.GroupKind]*crd.Definition
	// namespaces are the names of those that exist, and maybe of others.
	namespaces map[string]struct{}
	// defined are the custom resources that have a definition, and maybe others.
	defined map[schema.GroupResource]struct{}
}

// kind is a kind that is followed.
type kind struct {
	schema.GroupResource
	// left is closed when the kind is served no longer.
	left chan struct{}

	// mu guards what is below; told numbers what feed told, of what is known as
	// kinds.
	mu    sync.Mutex
	feed  Feed
	told  uint32
	kinds []schema.GroupKind
}

func (f *follower) init() {
	f.redefined = make(chan struct{}, 1)
	f.kinds = map[schema.GroupResource]*kind{}
	f.namespaces = map[string]struct{}{}
	f.defined = map[schema.GroupResource]struct{}{}
}

func (f *follower) wake(key controller.Key) { f.queue.Add(key) }

// How long after a failure the kinds are looked for again: first, and at most.
const (
	retryKinds    = 20 * time.Millisecond
	maxRetryKinds = 10 * time.Second
)

// Work implements [controller.Working]: it keeps the index.
func (c *Collector) Work(ctx context.Context, q controller.Queue) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(nil)
	c.begin.Do(func() { c.queue = q })
	pump := func(k *kind) {
		running.Go(func() {
			if err := c.pump(ctx, k); err != nil {
				cancel(err)
			}
		})
	}
	for _, k := range c.following() { // before it broke off
		pump(k)
	}
	for delay := retryKinds; ; {
		err := c.followKinds(ctx, pump)
		var retry <-chan time.Time
		if err == nil {
			delay = retryKinds
		} else if ctx.Err() == nil {
			c.metrics.GarbageSyncError()
			c.log.Warn().Err(err).Msg("not all kinds are followed; trying again")
			retry = time.After(delay)
			delay = min(2*delay, maxRetryKinds)
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-retry:
		case <-c.redefined:
		}
	}
}

// following are the kinds that are followed.
func (f *follower) following() (out []*kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.kinds {
		out = append(out, k)
	}
	return out
}

// followKinds follows what is served, and nothing else.
func (c *Collector) followKinds(ctx context.Context, pump func(*kind)) error {
	defs, err := c.source.Kinds(ctx)
	if err != nil {
		return fmt.Errorf("look for kinds to follow: %w", err)
	}
	served := map[schema.GroupResource]bool{}
	byKind := map[schema.GroupKind]*crd.Definition{}
	var errs []error
	for _, d := range defs {
		if !collectable(d) {
			continue
		}
		gr, kinds := d.GroupResource(), kindsOf(d)
		if err := c.followKind(gr, kinds, pump); err != nil {
			errs = append(errs, err)
			continue
		}
		served[gr] = true
		for _, gk := range kinds {
			byKind[gk] = d
		}
	}
	c.mu.Lock()
	c.byKind = byKind // before leaving wakes whatever has an owner
	c.mu.Unlock()
	for _, k := range c.following() {
		if !served[k.GroupResource] {
			errs = append(errs, c.leaveKind(k))
		}
	}
	c.index.resume()
	return errors.Join(errs...)
}

// kindsOf is what a kind may be called in references to it.
func kindsOf(d *crd.Definition) (out []schema.GroupKind) {
	for _, group := range d.Groups() {
		out = append(out, schema.GroupKind{Group: group, Kind: d.Kind})
	}
	return out
}

// collectable tells whether objects of a kind can be found and deleted.
func collectable(d *crd.Definition) bool {
	verbs := d.ServedVerbs()
	for _, v := range []string{"list", "watch", "delete"} {
		if !slices.Contains(verbs, v) {
			return false
		}
	}
	return true
}

func (c *Collector) followKind(gr schema.GroupResource, kinds []schema.GroupKind, pump func(*kind)) error {
	c.mu.Lock()
	known := c.kinds[gr]
	c.mu.Unlock()
	if known != nil {
		return known.rename(kinds, c.catchUp)
	}
	feed, err := c.source.Feed(gr)
	if err != nil {
		return fmt.Errorf("follow %s: %w", gr, err)
	}
	k := &kind{GroupResource: gr, left: make(chan struct{}), feed: feed, kinds: kinds}
	if err := c.catchUp(k); err != nil {
		return err
	}
	c.mu.Lock()
	c.kinds[gr] = k
	c.mu.Unlock()
	pump(k)
	return nil
}

// rename has k known as other kinds, after it caught up with what went under the former
// names.
func (k *kind) rename(kinds []schema.GroupKind, catchUp func(*kind) error) error {
	k.mu.Lock()
	same := slices.Equal(k.kinds, kinds)
	k.mu.Unlock()
	if same {
		return nil
	}
	if err := catchUp(k); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kinds = kinds
	return nil
}

// leaveKind follows a kind no longer, after what has happened so far: its
// objects went before it, with owners among them.
func (c *Collector) leaveKind(k *kind) error {
	if err := c.catchUp(k); err != nil {
		return err
	}
	c.mu.Lock()
	delete(c.kinds, k.GroupResource)
	c.mu.Unlock()
	close(k.left)
	c.index.prune(k.GroupResource, 0)
	return nil
}

// catchUp takes all that the cache knows of a kind into the index.
func (c *Collector) catchUp(k *kind) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed := false
	for more := true; more; {
		k.told++
		anew, again, err := k.feed.Next(func(m *metav1.ObjectMeta, gone bool) {
			changed = true
			c.take(k, m, gone)
		})
		if err != nil {
			return fmt.Errorf("follow %s: %w", k.GroupResource, err)
		}
		if anew && k.told > 1 {
			c.index.prune(k.GroupResource, k.told)
		}
		more = again
	}
	if changed && k.GroupResource == gvr.Definitions {
		select {
		case c.redefined <- struct{}{}:
		default: // they are looked for already
		}
	}
	return nil
}

// take takes one object into the index, or out of it.
func (c *Collector) take(k *kind, m *metav1.ObjectMeta, gone bool) {
	switch k.GroupResource {
	case gvr.Namespaces:
		c.noteNamespace(m.Name, gone)
	case gvr.Definitions:
		c.noteDefinition(m.Name, gone)
	}
	if gone {
		c.index.remove(k.GroupResource, m, k.kinds...)
	} else {
		c.index.set(k.GroupResource, m, k.told)
	}
}

// pump keeps the index current with a kind until it is left or ctx ends.
func (c *Collector) pump(ctx context.Context, k *kind) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("following %s panicked: %v\n%s", k.GroupResource, p, debug.Stack())
		}
	}()
	for {
		k.mu.Lock()
		ready := k.feed.Wait()
		k.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-k.left:
			return nil
		case <-ready:
		}
		if err := c.catchUp(k); err != nil {
			return err
		}
	}
}

// errBehind tells that kinds are served that are not followed yet.
var errBehind = errors.New("not all kinds are followed yet")

// sync brings the index up to what was committed before the call.
func (c *Collector) sync(ctx context.Context) error {
	if err := c.objects.Fresh(ctx); err != nil {
		return err
	}
	defs, err := c.source.Kinds(ctx)
	if err != nil {
		return err
	}
	following := c.following()
	for _, d := range defs {
		gr := d.GroupResource()
		if collectable(d) && !slices.ContainsFunc(following, func(k *kind) bool { return k.GroupResource == gr }) {
			return errBehind
		}
	}
	for _, k := range following {
		if err := c.catchUp(k); err != nil {
			return err
		}
	}
	return nil
}

// definition is what is served as a kind, if it is followed.
func (f *follower) definition(gk schema.GroupKind) *crd.Definition {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byKind[gk]
}

// served is what is served as a resource, if it is followed.
func (f *follower) served(gr schema.GroupResource) *crd.Definition {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.byKind {
		if d.GroupResource() == gr {
			return d
		}
	}
	return nil
}

func (f *follower) noteNamespace(name string, gone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if gone {
		delete(f.namespaces, name)
	} else {
		f.namespaces[name] = struct{}{}
	}
}

func (f *follower) namespaceNames() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.namespaces))
}
