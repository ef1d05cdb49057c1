// Package coverage owns the condition ConversionsComplete of WasmModules: whether
// a module that says what it converts does so for all that definitions need of it.
//
// It must not know how modules are loaded: what they convert is in their status.
package coverage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// Objects are modules and definitions as the controller uses them.
type Objects interface {
	client.Getter
	client.Lister
	client.Updater
}

// Controller compares what modules convert with what is needed. It runs in one
// gateway.
type Controller struct {
	objects Objects

	mu     sync.Mutex
	listed bool                   // guarded by mu: all definitions were looked at
	needs  map[string]module.Need // guarded by mu: by the name of the definition
}

// New returns the controller.
func New(objects Objects) *Controller {
	return &Controller{objects: objects, needs: map[string]module.Need{}}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "module-coverage" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Modules, gvr.Definitions}
}

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key.GroupResource == gvr.Definitions {
		return c.definition(ctx, q, key.Name)
	}
	if err := c.list(ctx); err != nil {
		return err
	}
	obj, err := c.objects.Get(ctx, gvr.Modules, "", key.Name)
	if err != nil {
		return gvr.IgnoreNotFound(err)
	}
	return gvr.IgnoreNotFound(c.report(ctx, obj))
}

// definition looks at what a definition needs now, and lets the modules be looked
// at that it is news for.
func (c *Controller) definition(ctx context.Context, q controller.Queue, name string) error {
	now := module.Need{}
	obj, err := c.objects.Get(ctx, gvr.Definitions, "", name)
	switch {
	case err == nil:
		now = module.NeedOf(obj)
	case !apierrors.IsNotFound(err):
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.needs[name]
	if before.Module == now.Module && slices.Equal(before.Conversions, now.Conversions) {
		return nil
	}
	c.noteLocked(name, now)
	for _, m := range []string{before.Module, now.Module} {
		if m != "" {
			q.Add(controller.Key{GroupResource: gvr.Modules, Name: m})
		}
	}
	return nil
}

func (c *Controller) noteLocked(name string, n module.Need) {
	if n.Module == "" {
		delete(c.needs, name)
	} else {
		c.needs[name] = n
	}
}

// list looks at all definitions, once: a module is not to be found complete for
// what was not looked at yet.
func (c *Controller) list(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed {
		return nil
	}
	all, err := c.objects.List(ctx, gvr.Definitions, "")
	if err != nil {
		return fmt.Errorf("list definitions: %w", err)
	}
	for _, obj := range all {
		c.noteLocked(obj.GetName(), module.NeedOf(obj))
	}
	c.listed = true
	return nil
}

// lacks are what definitions need of a module and do not get.
func (c *Controller) lacks(name string, has []plugins.Conversion) []module.Lack {
	c.mu.Lock()
	defer c.mu.Unlock()
	return module.Lacks(name, has, maps.All(c.needs))
}

// report writes the condition, if it is another. Of a module that lacks nothing,
// and never did, there is none.
func (c *Controller) report(ctx context.Context, obj *unstructured.Unstructured) error {
	changed, err := gvr.ChangeConditions(obj, func(all []metav1.Condition) []metav1.Condition {
		module.SetCompleteness(&all, obj.GetGeneration(), c.lacks(obj.GetName(), module.ConversionsOf(obj)))
		return all
	})
	if err != nil || !changed {
		return err
	}
	_, err = c.objects.Update(ctx, gvr.Modules, "status", obj)
	return err
}
