package controller_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
)

func TestKey(t *testing.T) {
	gr := schema.GroupResource{Group: "example.com", Resource: "tabs"}
	for want, key := range map[string]controller.Key{
		"tabs.example.com/ns/name": {GroupResource: gr, Namespace: "ns", Name: "name"},
		"tabs.example.com/name":    {GroupResource: gr, Name: "name"},
	} {
		if got := key.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestPause(t *testing.T) {
	if !controller.Pause(t.Context(), time.Microsecond) {
		t.Error("a pause that ended by itself")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if controller.Pause(ctx, time.Minute) {
		t.Error("a pause that was ended")
	}
}

// What fails is tried again, and each failure told, until it succeeds or nobody waits any more.
func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var tries, told int
	controller.Until(ctx, time.Microsecond, func(context.Context) error {
		if tries++; tries < 4 {
			return errors.New("not yet")
		}
		return nil
	}, func(error) { told++ })
	if tries != 4 || told != 3 {
		t.Errorf("%d tries, of which %d failures were told", tries, told)
	}
	controller.Until(ctx, time.Hour, func(context.Context) error { return errors.New("never") }, func(error) { cancel() })
}

// resyncing wants to see everything again.
type resyncing struct {
	funcController
	every time.Duration
}

func (c *resyncing) Resync() time.Duration { return c.every }

func TestRun_resync(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("", "object"))
	seen := make(chan string)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	controllertest.Start(t, o, &resyncing{every: 5 * time.Millisecond, funcController: funcController{
		seeds: []controller.Key{{Name: "seed"}},
		reconcile: func(_ context.Context, _ controller.Queue, key controller.Key) error {
			select {
			case seen <- key.Name:
			case <-ctx.Done():
			}
			return nil
		},
	}})
	counts := map[string]int{}
	for counts["object"] < 3 || counts["seed"] < 3 {
		select {
		case name := <-seen:
			counts[name]++
		case <-time.After(20 * time.Second):
			t.Fatalf("seen %v", counts)
		}
	}
	// A list that fails is no reason to stop.
	var failed atomic.Int32
	o.Fail(func(op string, _ controller.Key) error {
		if op == "list" && failed.Add(1) <= 2 {
			return errors.New("no list")
		}
		return nil
	})
	for before := counts["object"]; counts["object"] < before+3 || failed.Load() < 3; {
		counts[<-seen]++
	}
}

// parallel reconciles several keys at a time.
type parallel struct {
	funcController
	workers int
}

func (c *parallel) Workers() int { return c.workers }

// Different keys are reconciled by all workers at once, one key by one only.
func TestRun_workers(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) { runWorkers(t, workers) })
	}
}

func runWorkers(t *testing.T, workers int) {
	want := max(1, workers)
	var mu sync.Mutex
	busy, most, running := 0, 0, map[string]bool{}
	release := make(chan struct{})
	reconcile := func(ctx context.Context, q controller.Queue, key controller.Key) error {
		mu.Lock()
		if running[key.Name] {
			t.Errorf("%s is reconciled twice at once", key.Name)
		}
		running[key.Name] = true
		busy++
		most = max(most, busy)
		mu.Unlock()
		q.Add(key) // while it is being reconciled
		select {
		case <-release:
		case <-ctx.Done():
		}
		mu.Lock()
		defer mu.Unlock()
		busy--
		delete(running, key.Name)
		return nil
	}
	stop := controllertest.Start(t, controllertest.New(), &parallel{workers: workers, funcController: funcController{
		seeds: []controller.Key{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}, reconcile: reconcile,
	}})
	synctest.Wait() // until all that come are there
	close(release)
	stop()
	if most != want {
		t.Errorf("%d workers: %d at once", workers, most)
	}
}

// counting counts the calls of Fresh.
type counting struct {
	controller.Source
	fresh   atomic.Int32
	follows atomic.Int32
	fail    atomic.Bool
}

func (c *counting) Fresh(ctx context.Context) error {
	c.fresh.Add(1)
	if c.fail.Load() {
		return errors.New("the store is away")
	}
	return c.Source.Fresh(ctx)
}

func (c *counting) Follow(ctx context.Context, gr schema.GroupResource, fn func(namespace, name string)) error {
	if c.follows.Add(1) < 3 {
		return errors.New("the kind is not served yet")
	}
	return c.Source.Follow(ctx, gr, fn)
}

func run(t *testing.T, s controller.Source, c controller.Controller) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); controller.Run(ctx, zerolog.Nop(), s, c) }()
	t.Cleanup(func() { cancel(); <-ended })
}

// A Conflict is tried again at once, from a fresh cache, eight times; then it
// waits like every other failure.
func TestRun_conflictsAreRetriedAtOnce(t *testing.T) {
	for _, conflicts := range []int32{1, 8, 9} {
		s := &counting{Source: controllertest.New()}
		var calls, freshAtTheEnd atomic.Int32
		done := make(chan struct{})
		run(t, s, &funcController{
			seeds: []controller.Key{{Name: "x"}},
			reconcile: func(context.Context, controller.Queue, controller.Key) error {
				if calls.Add(1) <= conflicts {
					return apierrors.NewConflict(controllertest.ConfigMaps, "x", errors.New("changed"))
				}
				freshAtTheEnd.Store(s.fresh.Load())
				close(done)
				return nil
			},
		})
		<-done
		if got, want := freshAtTheEnd.Load(), min(conflicts, 8); got != want {
			t.Errorf("%d conflicts: fresh %d times, want %d", conflicts, got, want)
		}
	}
}

func TestRun_storeAwayDuringAConflict(t *testing.T) {
	s := &counting{Source: controllertest.New()}
	s.fail.Store(true)
	var calls atomic.Int32
	done := make(chan struct{})
	run(t, s, &funcController{
		seeds: []controller.Key{{Name: "x"}},
		reconcile: func(context.Context, controller.Queue, controller.Key) error {
			if calls.Add(1) < 3 {
				return apierrors.NewConflict(controllertest.ConfigMaps, "x", errors.New("changed"))
			}
			close(done)
			return nil
		},
	})
	<-done
	if n := s.fresh.Load(); n != 2 {
		t.Errorf("fresh was tried %d times for two conflicts", n)
	}
}

// A kind that cannot be followed yet is tried again.
func TestRun_followIsTriedAgain(t *testing.T) {
	o := controllertest.New()
	s := &counting{Source: o}
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("", "late"))
	seen := make(chan string, 1)
	run(t, s, &funcController{reconcile: func(_ context.Context, _ controller.Queue, key controller.Key) error {
		seen <- key.Name
		return nil
	}})
	if name := <-seen; name != "late" || s.follows.Load() != 3 {
		t.Errorf("%s after %d tries", name, s.follows.Load())
	}
}

// AddAfter asks later, and a key that was asked for twice comes once.
func TestRun_queue(t *testing.T) { synctest.Test(t, queues) }

func queues(t *testing.T) {
	var order []string
	done := make(chan struct{})
	start := make(chan struct{})
	o := controllertest.New()
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("", "first"))
	run(t, o, &funcController{
		reconcile: func(_ context.Context, q controller.Queue, key controller.Key) error {
			order = append(order, key.Name)
			switch key.Name {
			case "first":
				close(start)
				q.AddAfter(controller.Key{Name: "later"}, time.Second) // by the bubble's clock
				q.Add(controller.Key{Name: "now"})
				q.Add(controller.Key{Name: "now"})
			case "later":
				close(done)
			}
			return nil
		},
	})
	<-start
	<-done
	if len(order) != 3 || order[1] != "now" || order[2] != "later" {
		t.Errorf("reconciled %v", order)
	}
}
