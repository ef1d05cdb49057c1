package load

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// sweepInterval is how often contents are looked at.
const sweepInterval = 5 * time.Minute

// Collector removes contents that no module refers to any more: after another
// upload, or when a module was deleted. It runs in one gateway.
type Collector struct {
	objects  module.Lister
	contents module.Contents
}

// NewCollector returns the controller.
func NewCollector(objects module.Lister, contents module.Contents) *Collector {
	return &Collector{objects: objects, contents: contents}
}

// Name implements [controller.Controller].
func (c *Collector) Name() string { return "module-contents" }

// Watches implements [controller.Controller].
func (c *Collector) Watches() []schema.GroupResource { return nil }

// Seeds implements [controller.Seeded]: all contents are looked at together.
func (c *Collector) Seeds() []controller.Key {
	return []controller.Key{{GroupResource: gvr.Modules}}
}

// Resync implements [controller.Resyncing].
func (c *Collector) Resync() time.Duration { return sweepInterval }

// Reconcile implements [controller.Controller].
func (c *Collector) Reconcile(ctx context.Context, _ controller.Queue, _ controller.Key) error {
	_, err := c.contents.Sweep(ctx, c.referenced)
	if err != nil {
		return fmt.Errorf("collect contents of modules: %w", err)
	}
	return nil
}

// referenced returns all digests that modules refer to: what was uploaded,
// what is in the spec, what serves or served last, and the history.
func (c *Collector) referenced(ctx context.Context) (map[string]bool, error) {
	if err := c.objects.Fresh(ctx); err != nil {
		return nil, err
	}
	modules, err := c.objects.List(ctx, gvr.Modules, "")
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, obj := range modules {
		for _, digest := range module.Digests(obj, c.contents.Digest) {
			used[digest] = true
		}
	}
	return used, nil
}
