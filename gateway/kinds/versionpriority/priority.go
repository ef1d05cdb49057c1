// Package versionpriority owns VersionPriorities: it asks the module that one names for
// the order of its groups' versions, and writes the answer, or why there is none,
// into the status, from which every gateway takes it.
//
// It must not know the Wasm runtime, nor the documents in which an order shows.
package versionpriority

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/priority"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/plugins"
)

// Objects are what the controller reads and writes.
type Objects interface {
	client.Getter
	client.Lister
	client.Updater
}

// Modules are the modules of this gateway.
type Modules interface {
	// Status tells what serves under a name; ok is false when the name was
	// never set.
	Status(name string) (status plugins.Status, ok bool)
	// Prioritize asks the module called name; the reply belongs to accept. Its
	// error is a *[plugins.CallError], or accept's.
	Prioritize(ctx context.Context, name string, review []byte, accept func(reply []byte) error) error
}

// Groups tell what is served.
type Groups interface {
	// Versions are the versions that a group serves, in the Kubernetes order.
	Versions(ctx context.Context, group string) ([]string, error)
}

const (
	// CallTimeout is how long a module may take to order the versions of one
	// group, if its own limit is not lower.
	CallTimeout = 5 * time.Second
	// loadingPause is how long a module that is being loaded is left alone.
	loadingPause = time.Second
	// resync is how often everything is compared again.
	resync = 10 * time.Second
	// workers is how many objects are looked at at a time, so that a slow
	// module holds up few others.
	workers = 4
)

// Controller asks modules for orders. It runs in one gateway.
type Controller struct {
	objects Objects
	modules Modules
	groups  Groups

	mu sync.Mutex
	// answers are what modules said, by object and group, so that they are
	// asked again only when they or the versions changed.
	answers map[string]map[string]answer // guarded by mu
}

// answer is what a module said when it was asked as in asked.
type answer struct {
	asked    string
	versions []string
	err      error
}

// New returns the controller.
func New(objects Objects, modules Modules, groups Groups) *Controller {
	return &Controller{objects: objects, modules: modules, groups: groups, answers: map[string]map[string]answer{}}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "version-priorities" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Priorities}
}

// Workers implements [controller.Concurrent].
func (c *Controller) Workers() int { return workers }

// Resync implements [controller.Resyncing]: what this gateway has loaded changes
// without an event when another one said so first.
func (c *Controller) Resync() time.Duration { return resync }

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	obj, err := c.objects.Get(ctx, gvr.Priorities, "", key.Name)
	if apierrors.IsNotFound(err) {
		q.Follow(key)
		c.remember(key.Name, nil)
		return nil
	}
	if err != nil {
		return err
	}
	q.Follow(key, controller.Scope{GroupResource: gvr.Priorities}, controller.Scope{GroupResource: gvr.Modules}, controller.Scope{GroupResource: gvr.Definitions})
	var vp priority.Object
	if err := gvr.Decode(obj, &vp); err != nil {
		return err
	}
	owners, err := c.owners(ctx)
	if err != nil {
		return err
	}
	module, loading, err := c.module(ctx, vp.Spec.Module)
	if err != nil {
		return err
	}
	if loading {
		q.AddAfter(key, loadingPause)
	}
	next, failed := c.status(ctx, &vp, owners, module)
	if failed != nil && ctx.Err() != nil {
		return failed
	}
	if equality.Semantic.DeepEqual(vp.Status, next) {
		return failed
	}
	if err := gvr.SetStatus(obj, &next); err != nil {
		return err
	}
	if _, err := c.objects.Update(ctx, gvr.Priorities, "status", obj); err != nil {
		return gvr.IgnoreNotFound(err)
	}
	return failed
}

// owners are the objects that order each group.
func (c *Controller) owners(ctx context.Context) (map[string]*priority.Object, error) {
	list, err := c.objects.List(ctx, gvr.Priorities, "")
	if err != nil {
		return nil, fmt.Errorf("list VersionPriorities: %w", err)
	}
	var all []*priority.Object
	for _, obj := range list {
		o := &priority.Object{}
		if err := gvr.Decode(obj, o); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return priority.Owners(all), nil
}

// ask asks a module for the order of a group, unless nothing changed since it
// was asked last. The error is what the module did wrong; again tells that it
// may answer when it is asked again.
func (c *Controller) ask(ctx context.Context, object string, m orderer, group string, versions []string) (order []string, again bool, err error) {
	asked := fmt.Sprintf("%s %s %q", m.name, m.identity, versions)
	if a, ok := c.answer(object, group); ok && a.asked == asked {
		return a.versions, false, a.err
	}
	request := priority.Ask(group, versions)
	review, err := request.Encode()
	if err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	err = c.modules.Prioritize(ctx, m.name, review, func(reply []byte) (err error) {
		order, err = request.Accept(reply)
		return err
	})
	var call *plugins.CallError
	if errors.As(err, &call) && (call.Kind == plugins.NotReady || call.Kind == plugins.Deadline || call.Later()) {
		return nil, true, err
	}
	if err != nil {
		order = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers[object] == nil {
		c.answers[object] = map[string]answer{}
	}
	c.answers[object][group] = answer{asked, order, err}
	return order, false, err
}

func (c *Controller) answer(object, group string) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.answers[object][group]
	return a, ok
}

// remember keeps, of what was said for an object, what is about groups.
func (c *Controller) remember(object string, groups []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for g := range c.answers[object] {
		if !slices.Contains(groups, g) {
			delete(c.answers[object], g)
		}
	}
	if len(c.answers[object]) == 0 {
		delete(c.answers, object)
	}
}
