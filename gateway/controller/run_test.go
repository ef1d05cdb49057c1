package controller_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// funcController reconciles config maps with a function.
type funcController struct {
	reconcile func(ctx context.Context, q controller.Queue, key controller.Key) error
	seeds     []controller.Key
}

func (c *funcController) Name() string { return "test" }
func (c *funcController) Watches() []schema.GroupResource {
	return []schema.GroupResource{controllertest.ConfigMaps}
}
func (c *funcController) Seeds() []controller.Key { return c.seeds }
func (c *funcController) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	return c.reconcile(ctx, q, key)
}

func TestRun_reconcilesWhatExistsAndWhatChanges(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("", "before"))
	seen := make(chan controller.Key, 10)
	controllertest.Start(t, o, &funcController{
		seeds: []controller.Key{{Name: "seed"}},
		reconcile: func(_ context.Context, _ controller.Queue, key controller.Key) error {
			seen <- key
			return nil
		},
	})
	for got := map[string]bool{}; !got["before"] || !got["seed"]; { // the seed may come twice
		got[(<-seen).Name] = true
	}
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("", "after"))
	key := <-seen
	for key.Name == "seed" {
		key = <-seen
	}
	if key.Name != "after" || key.GroupResource != controllertest.ConfigMaps {
		t.Errorf("after a change: %v", key)
	}
}

// late is a source whose kinds are followed only once begin is closed.
type late struct {
	controller.Source
	begin chan struct{}
}

func (l late) Follow(ctx context.Context, gr schema.GroupResource, fn func(namespace, name string)) error {
	select {
	case <-l.begin:
	case <-ctx.Done():
	}
	return l.Source.Follow(ctx, gr, fn)
}

// What a seed finds may be deleted before its kind is followed, which makes no event.
func TestRun_seedsAgainOnceItFollows(t *testing.T) {
	o := controllertest.New()
	l, looks := late{o, make(chan struct{})}, make(chan bool)
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("", "one"))
	run(t, l, &funcController{
		seeds: []controller.Key{{Name: "seed"}},
		reconcile: func(ctx context.Context, _ controller.Queue, key controller.Key) error {
			if key.Name != "seed" {
				return nil
			}
			items, err := o.ListMetadata(ctx, controllertest.ConfigMaps, "")
			select {
			case looks <- len(items) > 0:
			case <-ctx.Done():
			}
			return err
		},
	})
	if !<-looks {
		t.Error("the object is not there at first")
	}
	if err := o.Delete(t.Context(), controllertest.ConfigMaps, "", "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	close(l.begin)
	if <-looks {
		t.Error("the object is there still")
	}
}

func TestRun_retries(t *testing.T) {
	conflict := apierrors.NewConflict(controllertest.ConfigMaps, "x", errors.New("changed"))
	for name, failure := range map[string]func() error{
		"error":    func() error { return errors.New("no luck") },
		"conflict": func() error { return conflict },
		"panic":    func() error { panic("out of luck") },
	} {
		t.Run(name, func(t *testing.T) {
			o := controllertest.New()
			var calls atomic.Int32
			done := make(chan struct{})
			controllertest.Start(t, o, &funcController{
				seeds: []controller.Key{{Name: "x"}},
				reconcile: func(context.Context, controller.Queue, controller.Key) error {
					if calls.Add(1) < 4 {
						return failure()
					}
					close(done)
					return nil
				},
			})
			<-done
		})
	}
}

func TestRun_conflictWaitsForTheCache(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("", "x"))
	o.Hold(controllertest.ConfigMaps)
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("", "unseen"))
	done := make(chan struct{})
	controllertest.Start(t, o, &funcController{reconcile: func(ctx context.Context, _ controller.Queue, key controller.Key) error {
		if key.Name != "x" {
			return nil
		}
		if controllertest.Gone(o, controllertest.ConfigMaps, "", "unseen") {
			return apierrors.NewConflict(controllertest.ConfigMaps, "x", errors.New("the cache is behind"))
		}
		close(done)
		return nil
	}})
	<-done
}

func TestRun_follow(t *testing.T) {
	o := controllertest.New(controllertest.ServedCronTabs)
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("a"))
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("b"))
	calls := make(chan controller.Key, 10)
	follow := atomic.Bool{}
	follow.Store(true)
	owner := controller.Key{Name: "owner"}
	stop := controllertest.Start(t, o, &funcController{
		seeds: []controller.Key{owner},
		reconcile: func(_ context.Context, q controller.Queue, key controller.Key) error {
			if follow.Load() {
				q.Follow(key, controller.Scope{GroupResource: controllertest.CronTabs, Namespace: "a"})
			} else {
				q.Follow(key)
			}
			calls <- key
			return nil
		},
	})
	<-calls
	<-calls // once more, for what happened before the follower was there
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("b", "elsewhere"))
	controllertest.Eventually(t, o, "one follower", func() bool { return o.Followers(controllertest.CronTabs) == 1 })
	follow.Store(false)
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("a", "here"))
	if key := <-calls; key != owner {
		t.Errorf("woke %v", key)
	}
	controllertest.Eventually(t, o, "no follower", func() bool { return o.Followers(controllertest.CronTabs) == 0 })
	stop()
	if n := o.Followers(controllertest.ConfigMaps); n != 0 {
		t.Errorf("%d followers outlive Run", n)
	}
}

// working has work of its own.
type working struct {
	funcController
	work func(ctx context.Context, q controller.Queue) error
}

func (c *working) Watches() []schema.GroupResource { return nil }
func (c *working) Work(ctx context.Context, q controller.Queue) error {
	return c.work(ctx, q)
}

// What a controller does by itself is taken up again after a failure and after
// a panic, and has ended when Run returns.
func TestRun_keepsWorkGoing(t *testing.T) {
	o := controllertest.New()
	seen := make(chan controller.Key, 20)
	calls, ended := 0, false
	c := &working{work: func(ctx context.Context, q controller.Queue) error {
		switch calls++; calls {
		case 1:
			return errors.New("no luck")
		case 2:
			panic("no idea")
		}
		q.Add(controller.Key{Name: "found"})
		<-ctx.Done()
		ended = true
		return ctx.Err()
	}}
	c.reconcile = func(_ context.Context, _ controller.Queue, key controller.Key) error {
		seen <- key
		return nil
	}
	stop := controllertest.Start(t, o, c)
	if key := <-seen; key.Name != "found" {
		t.Errorf("got %v", key)
	}
	stop()
	if calls != 3 || !ended {
		t.Errorf("called %d times, ended: %v", calls, ended)
	}
}
