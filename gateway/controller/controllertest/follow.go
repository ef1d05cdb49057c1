package controllertest

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// follower is one call of Follow: a queue of changes without a limit.
type follower struct {
	gr schema.GroupResource

	mu    sync.Mutex
	queue []controller.Key
	// ready has room for one: it says that queue may not be empty.
	ready chan struct{}
}

func (f *follower) push(key controller.Key) {
	f.mu.Lock()
	f.queue = append(f.queue, key)
	f.mu.Unlock()
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

func (f *follower) take() []controller.Key {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := f.queue
	f.queue = nil
	return keys
}

// Follow calls fn for what exists and for every change, until ctx ends.
func (o *Objects) Follow(ctx context.Context, gr schema.GroupResource, fn func(namespace, name string)) error {
	f := &follower{gr: gr, ready: make(chan struct{}, 1)}
	o.mu.Lock()
	for key := range o.cached {
		if key.GroupResource == gr {
			f.push(key)
		}
	}
	f.push(controller.Key{GroupResource: gr}) // as after what exists
	o.followers[f] = true
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		delete(o.followers, f)
		o.mu.Unlock()
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.ready:
			for _, key := range f.take() {
				fn(key.Namespace, key.Name)
			}
		}
	}
}

// Followers is the number of Follow calls of a kind that are under way.
func (o *Objects) Followers(gr schema.GroupResource) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for f := range o.followers {
		if f.gr == gr {
			n++
		}
	}
	return n
}
