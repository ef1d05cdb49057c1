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

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
	"github.com/wasmgate/wasmgate/gateway/controller/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// Objects are modules and definitions as the controller uses them. Errors are the
// API's status errors; objects that are returned belong to the caller.
type Objects interface {
	// Get reads an object at its storage version, from the cache.
	Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error)
	// List reads all objects of a kind at their storage version, from the cache.
	List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error)
	// Update writes obj through a subresource. The object's resourceVersion must
	// be current, else it is a Conflict.
	Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
}

// Controller compares what modules convert with what is needed. It runs in one
// gateway.
type Controller struct {
	objects Objects

	mu     sync.Mutex
	listed bool             // guarded by mu: all definitions were looked at
	needs  map[string]needs // guarded by mu: by the name of the definition
}

// needs are what one definition needs of a module.
type needs struct {
	module      string
	conversions []plugins.Conversion
}

// New returns the controller.
func New(objects Objects) *Controller {
	return &Controller{objects: objects, needs: map[string]needs{}}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "module-coverage" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource {
	return []schema.GroupResource{kinds.Modules, kinds.Definitions}
}

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key.GroupResource == kinds.Definitions {
		return c.definition(ctx, q, key.Name)
	}
	if err := c.list(ctx); err != nil {
		return err
	}
	obj, err := c.objects.Get(ctx, kinds.Modules, "", key.Name)
	if err != nil {
		return kinds.IgnoreNotFound(err)
	}
	return kinds.IgnoreNotFound(c.report(ctx, obj))
}

// definition looks at what a definition needs now, and lets the modules be looked
// at that it is news for.
func (c *Controller) definition(ctx context.Context, q controller.Queue, name string) error {
	now := needs{}
	obj, err := c.objects.Get(ctx, kinds.Definitions, "", name)
	switch {
	case err == nil:
		now = needsOf(obj)
	case !apierrors.IsNotFound(err):
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.needs[name]
	if before.module == now.module && slices.Equal(before.conversions, now.conversions) {
		return nil
	}
	c.noteLocked(name, now)
	for _, m := range []string{before.module, now.module} {
		if m != "" {
			q.Add(controller.Key{GroupResource: kinds.Modules, Name: m})
		}
	}
	return nil
}

// needsOf is what a definition needs; nothing when no module converts for it.
func needsOf(obj *unstructured.Unstructured) needs {
	refs := module.References(kinds.Definitions, obj.Object)
	if len(refs) == 0 {
		return needs{}
	}
	return needs{refs[0].Module, module.Needs(obj.Object)}
}

func (c *Controller) noteLocked(name string, n needs) {
	if n.module == "" {
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
	all, err := c.objects.List(ctx, kinds.Definitions, "")
	if err != nil {
		return fmt.Errorf("list definitions: %w", err)
	}
	for _, obj := range all {
		c.noteLocked(obj.GetName(), needsOf(obj))
	}
	c.listed = true
	return nil
}

// lacks are what definitions need of a module and do not get.
func (c *Controller) lacks(name string, has []plugins.Conversion) (lacks []module.Lack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, definition := range slices.Sorted(maps.Keys(c.needs)) {
		if n := c.needs[definition]; n.module == name {
			if lacking := plugins.Lacking(has, n.conversions); len(lacking) > 0 {
				lacks = append(lacks, module.Lack{Definition: definition, Lacking: lacking})
			}
		}
	}
	return lacks
}

// report writes the condition, if it is another. Of a module that lacks nothing,
// and never did, there is none.
func (c *Controller) report(ctx context.Context, obj *unstructured.Unstructured) error {
	before, err := kinds.Conditions(obj)
	if err != nil {
		return err
	}
	after := slices.Clone(before)
	module.SetCompleteness(&after, obj.GetGeneration(), c.lacks(obj.GetName(), module.ConversionsOf(obj)))
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	if err := kinds.SetConditions(obj, after); err != nil {
		return err
	}
	_, err = c.objects.Update(ctx, kinds.Modules, "status", obj)
	return err
}
