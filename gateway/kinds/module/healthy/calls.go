// Package healthy owns the condition Healthy of WasmModules: whether calls of a
// module fail, at which gateways, how often and why.
//
// Every gateway runs it, as each sees its own calls. It writes what it saw itself
// into the status, and makes the condition of what all wrote, so that gateways
// that saw different things do not correct each other. It must not know who calls
// modules.
package healthy

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	modulecalls "github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	"github.com/wasmgate/wasmgate/plugins"
)

// Objects are the modules as the controller uses them.
type Objects interface {
	client.Getter
	client.Updater
}

// Counted are the calls of this gateway; *modulecalls.Calls are.
type Counted interface {
	// Modules are the modules of which calls were counted.
	Modules() []string
	// Look tells how the calls of a module go since the revision began that did last.
	Look(module string) modulecalls.State
}

const (
	// interval is how often this gateway looks at its calls.
	interval = 5 * time.Second
	// What a gateway says of calls that fail is brought up to date after as long
	// as they do, within these bounds.
	minRefresh, maxRefresh = time.Minute, 5 * time.Minute
	// expiry is after how long what a gateway said counts no more: it is gone.
	expiry = 3 * maxRefresh
	// maxGateways is how many are remembered; what the others say is added when
	// there is room.
	maxGateways = 20
)

// Controller reports on calls.
type Controller struct {
	objects Objects
	serving func(name string) (plugins.Status, bool)
	counted Counted
	gateway string
	now     func() time.Time

	mu   sync.Mutex
	told map[string]outcome // guarded by mu: what was reported
}

// outcome is what there is to report of a module.
type outcome struct {
	revision      string
	failing, well bool
}

// New returns the controller of the gateway that is called gateway. serving tells
// what serves under a name.
func New(objects Objects, serving func(name string) (plugins.Status, bool), counted Counted, gateway string) *Controller {
	return &Controller{objects: objects, serving: serving, counted: counted, gateway: gateway, now: time.Now, told: map[string]outcome{}}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "module-calls" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource { return []schema.GroupResource{gvr.Modules} }

// Work implements [controller.Working]: it looks for news.
func (c *Controller) Work(ctx context.Context, q controller.Queue) error {
	for controller.Pause(ctx, interval) {
		for _, name := range c.counted.Modules() {
			now, _ := c.look(name)
			c.mu.Lock()
			news := now != c.told[name]
			c.mu.Unlock()
			if news {
				q.Add(controller.Key{GroupResource: gvr.Modules, Name: name})
			}
		}
	}
	return nil
}

// look tells how the calls of what serves go; no revision when nothing does.
func (c *Controller) look(name string) (outcome, modulecalls.State) {
	status, _ := c.serving(name)
	if status.Serving == nil {
		return outcome{}, modulecalls.State{}
	}
	s := c.counted.Look(name)
	return outcome{s.Revision, s.Failing, !s.Failing && s.Calls > s.Failed}, s
}

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	obj, err := c.objects.Get(ctx, gvr.Modules, "", key.Name)
	if apierrors.IsNotFound(err) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.told, key.Name)
		return nil
	}
	if err != nil {
		return err
	}
	now, state := c.look(key.Name)
	calls := module.CallsOf(obj)
	if now.revision == "" || calls == nil || calls.Revision != now.revision { // another serves, or will in a moment
		return nil
	}
	failing, next := c.failing(calls.Failing, state)
	if next > 0 {
		q.AddAfter(key, next)
	}
	if err := c.write(ctx, obj, module.Calls{Revision: calls.Revision, Failing: failing}, now.well); err != nil {
		return gvr.IgnoreNotFound(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told[key.Name] = now
	return nil
}

// failing is what all gateways say, with what this one has to, and after how long
// that is another; 0 for never.
func (c *Controller) failing(said []module.FailingCalls, state modulecalls.State) (all []module.FailingCalls, next time.Duration) {
	now := c.now()
	soonest := func(d time.Duration) {
		if next == 0 || d < next {
			next = max(d, time.Second)
		}
	}
	var own *module.FailingCalls
	for _, f := range said {
		switch left := expiry - now.Sub(f.Updated.Time); {
		case f.Gateway == c.gateway:
			own = &f
		case left > 0:
			all = append(all, f)
			soonest(left)
		}
	}
	if !state.Failing {
		return all, next
	}
	refresh := min(max(now.Sub(state.Since), minRefresh), maxRefresh)
	if own == nil || !own.Since.Time.Equal(state.Since.Truncate(time.Second)) || now.Sub(own.Updated.Time) >= refresh {
		own = &module.FailingCalls{Gateway: c.gateway, Calls: state.Calls, Failed: state.Failed, Since: seconds(state.Since),
			Hook: state.Last.Hook, Reason: state.Last.Reason, Updated: seconds(now)}
	}
	soonest(refresh - now.Sub(own.Updated.Time))
	if len(all) < maxGateways {
		all = append(all, *own)
	}
	slices.SortFunc(all, byGateway)
	return all, next
}

// seconds is a time as the API writes it.
func seconds(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

// write puts what is known into the status, if that is news.
func (c *Controller) write(ctx context.Context, obj *unstructured.Unstructured, calls module.Calls, well bool) error {
	conditions, err := gvr.Conditions(obj)
	if err != nil {
		return err
	}
	after := slices.Clone(conditions)
	if condition := judge(calls, well, meta.FindStatusCondition(conditions, module.Healthy), obj.GetName()); condition != nil {
		condition.Type, condition.ObservedGeneration = module.Healthy, obj.GetGeneration()
		condition.Message = gvr.Shorten(condition.Message)
		meta.SetStatusCondition(&after, *condition)
	}
	if equality.Semantic.DeepEqual(*module.CallsOf(obj), calls) && equality.Semantic.DeepEqual(conditions, after) {
		return nil
	}
	if err := module.SetCalls(obj, calls); err != nil {
		return err
	}
	if err := gvr.SetConditions(obj, after); err != nil {
		return err
	}
	_, err = c.objects.Update(ctx, gvr.Modules, "status", obj)
	return err
}
