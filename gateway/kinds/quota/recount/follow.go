package recount

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// followed are the kinds that some quota counts, or once did. Only those that are
// served are among them: names that quotas invent would take the place of others.
type followed struct {
	mu     sync.Mutex
	wanted []schema.GroupResource
	// news holds a value when something is wanted that was not.
	news chan struct{}
}

// most is how many kinds are followed; others are counted with each resync only,
// and when the quota changes.
const most = 2000

// want asks that a kind be followed.
func (f *followed) want(gr schema.GroupResource) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.wanted, gr) || len(f.wanted) == most {
		return
	}
	f.wanted = append(f.wanted, gr)
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// from are those that are wanted after the first n.
func (f *followed) from(n int) []schema.GroupResource {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wanted[n:len(f.wanted):len(f.wanted)]
}

// again is how long a kind that is not served any more is not looked for.
const again = 5 * time.Second

// Work implements [controller.Working]: it follows the kinds that quotas count,
// each once for all namespaces.
func (c *Controller) Work(ctx context.Context, q controller.Queue) error {
	var running sync.WaitGroup
	defer running.Wait()
	for n := 0; ; {
		for _, gr := range c.kinds.from(n) {
			n++
			running.Go(func() { c.follow(ctx, q, gr) })
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.kinds.news:
		}
	}
}

func (c *Controller) follow(ctx context.Context, q controller.Queue, gr schema.GroupResource) {
	for {
		// What fails is that the kind is not served, which may change.
		_ = c.objects.Follow(ctx, gr, func(namespace, name string) {
			for _, in := range c.counted(namespace, name == "") {
				q.Add(inSpace(in))
			}
		})
		if !controller.Pause(ctx, again) {
			return
		}
	}
}

// counted is the namespace if quotas count there, or all in which some do.
func (c *Controller) counted(namespace string, all bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case all:
		return slices.Collect(maps.Keys(c.spaces))
	case c.spaces[namespace] != nil:
		return []string{namespace}
	}
	return nil
}
