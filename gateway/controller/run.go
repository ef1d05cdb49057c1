package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"

	"github.com/wasmgate/wasmgate/gateway/controller/client"
)

const (
	retryBase = 10 * time.Millisecond
	retryMax  = 30 * time.Second
	// conflictRetries is how often a Conflict is retried at once; whoever
	// loses more often than that is in a fight and should wait.
	conflictRetries = 8
)

// Source tells of changes. Its errors are the API's status errors.
type Source interface {
	client.Follower
	client.MetadataLister
	client.Freshener
}

// Run runs controllers until ctx ends, and returns when all that they started
// has ended.
func Run(ctx context.Context, log zerolog.Logger, source Source, cs ...Controller) {
	var all sync.WaitGroup
	for _, c := range cs {
		r := newRunner(ctx, log.With().Str("controller", c.Name()).Logger(), source, c)
		all.Go(r.run)
	}
	all.Wait()
}

// runner runs one controller. It is the controller's Queue.
type runner struct {
	ctx    context.Context
	log    zerolog.Logger
	source Source
	c      Controller
	queue  workqueue.TypedRateLimitingInterface[Key]
	// running counts every goroutine of the runner.
	running sync.WaitGroup

	// mu guards follows: the extra scopes that keys follow.
	mu      sync.Mutex
	follows map[Key]map[Scope]context.CancelFunc
}

func newRunner(ctx context.Context, log zerolog.Logger, source Source, c Controller) *runner {
	return &runner{
		ctx: ctx, log: log, source: source, c: c,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[Key](retryBase, retryMax),
			workqueue.TypedRateLimitingQueueConfig[Key]{Name: c.Name()}),
		follows: map[Key]map[Scope]context.CancelFunc{},
	}
}

func (r *runner) run() {
	for _, gr := range r.c.Watches() {
		r.running.Go(func() {
			r.follow(r.ctx, gr, func(namespace, name string) {
				if name == "" { // whoever was seeded may have seen what is gone by now
					r.seed()
					return
				}
				r.queue.Add(Key{GroupResource: gr, Namespace: namespace, Name: name})
			})
		})
	}
	r.seed()
	if s, ok := r.c.(Resyncing); ok && s.Resync() > 0 {
		r.running.Go(func() { r.resync(s.Resync()) })
	}
	if w, ok := r.c.(Working); ok {
		r.running.Go(func() { r.work(w) })
	}
	workers := 1
	if p, ok := r.c.(Concurrent); ok {
		workers = max(1, p.Workers())
	}
	for range workers {
		r.running.Go(func() {
			for r.next() {
			}
		})
	}
	<-r.ctx.Done()
	r.queue.ShutDown()
	r.running.Wait()
}

// next reconciles one key; false means that the queue has ended.
func (r *runner) next() bool {
	key, ended := r.queue.Get()
	if ended {
		return false
	}
	defer r.queue.Done(key)

	err := r.reconcile(key)
	for i := 0; i < conflictRetries && apierrors.IsConflict(err) && r.ctx.Err() == nil; i++ {
		// The cache was behind the store, else there were no conflict.
		if err = r.source.Fresh(r.ctx); err == nil {
			err = r.reconcile(key)
		}
	}
	switch {
	case err == nil:
		r.queue.Forget(key)
	case r.ctx.Err() != nil:
		// What failed because of the shutdown is not news.
	default:
		r.log.Warn().Err(err).Stringer("key", key).Msg("reconcile failed; retrying")
		r.queue.AddRateLimited(key)
	}
	return true
}

func (r *runner) reconcile(key Key) error {
	return r.contain(func() error { return r.c.Reconcile(r.ctx, r, key) })
}

// contain turns a panic into an error: background work must not take the
// gateway down with it.
func (r *runner) contain(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error().Bytes("stack", debug.Stack()).Msg("a controller panicked")
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return fn()
}

// follow keeps a Follow going until ctx ends.
func (r *runner) follow(ctx context.Context, gr schema.GroupResource, fn func(namespace, name string)) {
	r.again(ctx, func() {
		if err := r.source.Follow(ctx, gr, fn); ctx.Err() == nil {
			r.log.Debug().Err(err).Stringer("resource", gr).Msg("follow broke; trying again")
		}
	})
}

// work keeps the controller's own work going until the runner ends.
func (r *runner) work(w Working) {
	r.again(r.ctx, func() {
		if err := r.contain(func() error { return w.Work(r.ctx, r) }); r.ctx.Err() == nil {
			r.log.Warn().Err(err).Msg("work broke off; trying again")
		}
	})
}

// again calls fn until ctx ends, after a delay that grows while fn keeps ending
// early.
func (r *runner) again(ctx context.Context, fn func()) {
	for delay := retryBase; ctx.Err() == nil; delay = min(2*delay, retryMax) {
		started := time.Now()
		fn()
		if time.Since(started) > retryMax {
			delay = retryBase
		}
		if !Pause(ctx, delay) {
			return
		}
	}
}

func (r *runner) seed() {
	if s, ok := r.c.(Seeded); ok {
		for _, key := range s.Seeds() {
			r.queue.Add(key)
		}
	}
}

func (r *runner) resync(every time.Duration) {
	for Pause(r.ctx, every) {
		r.seed()
		for _, gr := range r.c.Watches() {
			items, err := r.source.ListMetadata(r.ctx, gr, "")
			if err != nil {
				r.log.Debug().Err(err).Stringer("resource", gr).Msg("resync skipped")
				continue
			}
			for i := range items {
				r.queue.Add(Key{GroupResource: gr, Namespace: items[i].Namespace, Name: items[i].Name})
			}
		}
	}
}

// Pause waits for d; false means that ctx ended first.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Until tries something, and again a while after each failure, which failed is told, until
// it succeeds or ctx ends.
func Until(ctx context.Context, again time.Duration, try func(context.Context) error, failed func(error)) {
	for {
		err := try(ctx)
		if err == nil {
			return
		}
		failed(err)
		if !Pause(ctx, again) {
			return
		}
	}
}
