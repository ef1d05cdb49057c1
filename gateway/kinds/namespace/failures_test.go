package namespace_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/namespace"
)

// remembering is a memory one of whose calls fails with the objects' own.
type remembering struct {
	f     *controllertest.Failing
	names []string
}

func (m *remembering) call() error { return m.f.Fresh(context.Background()) }

func (m *remembering) Keep(_ context.Context, name string) error {
	if err := m.call(); err != nil {
		return err
	}
	m.names = append(m.names, name)
	return nil
}

func (m *remembering) Kept(context.Context) ([]string, error) { return m.names, m.call() }

func (m *remembering) Drop(_ context.Context, name string) error {
	if err := m.call(); err != nil {
		return err
	}
	m.names = slices.DeleteFunc(m.names, func(n string) bool { return n == name })
	return nil
}

// deaf is a queue that nobody listens to.
type deaf struct{}

func (deaf) Add(controller.Key)                         {}
func (deaf) AddAfter(controller.Key, time.Duration)     {}
func (deaf) Follow(controller.Key, ...controller.Scope) {}

var work = controller.Key{GroupResource: gvr.Namespaces, Name: "work"}

// once makes a controller for each world, and runs it.
func once() (run func(f *controllertest.Failing) error, memory func() []string) {
	var c *namespace.Finalizer
	var m *remembering
	return func(f *controllertest.Failing) error {
		if m == nil || m.f != f {
			m = &remembering{f: f}
			c = namespace.NewFinalizer(f, f, f.Engine.(*controllertest.Objects).Stored(), m)
		}
		return c.Reconcile(context.Background(), deaf{}, work)
	}, func() []string { return m.names }
}

// Whatever call fails while a namespace is emptied, that is told, and another run lets it
// go, and remembers to look again.
func TestFailuresOfTheEndOfANamespaceAreTold(t *testing.T) {
	run, memory := once()
	controllertest.EachCallFails(t, 10, func() controllertest.Engine {
		o := controllertest.WithCronTabs(t, 1)
		controllertest.MustCreate(t, o, gvr.Pods, controllertest.ObjectTree("work", "p"))
		if err := o.Delete(t.Context(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		return o
	}, run, func(f *controllertest.Failing) error {
		if !controllertest.Gone(f.Engine, gvr.Namespaces, "", "work") || !slices.Contains(memory(), "work") {
			return errors.New("it is there, or forgotten")
		}
		return nil
	})
}

// Whatever call fails while a namespace that went is looked at again, that is told, and the
// look is taken another time; what was created late is gone then.
func TestFailuresOfLooksAtWhatWentAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let, memory := once()
		controllertest.EachCallFails(t, 6, func() controllertest.Engine {
			o := controllertest.WithCronTabs(t, 0)
			if err := o.Delete(t.Context(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			f := &controllertest.Failing{Engine: o}
			if err := let(f); err != nil || !slices.Contains(memory(), "work") {
				t.Fatalf("it is not let go: %v", err)
			}
			o.Smuggle(controllertest.CronTabs, controllertest.ObjectTree("work", "late"))
			return f
		}, func(f *controllertest.Failing) error {
			kept := f.Engine.(*controllertest.Failing)
			kept.Number, kept.Calls = f.Number, 0
			// As the queue does, after each pause.
			var err error
			for range 2 {
				<-time.After(time.Minute)
				if err = let(kept); err != nil {
					break
				}
			}
			f.Calls, kept.Number = max(f.Calls, kept.Calls), 0
			return err
		}, func(f *controllertest.Failing) error {
			kept := f.Engine.(*controllertest.Failing)
			if !controllertest.Gone(kept.Engine, controllertest.CronTabs, "work", "late") || len(memory()) != 0 {
				return errors.New("what was late is there, or the namespace is not forgotten")
			}
			return nil
		})
	})
}

// blinded are objects whose second look at a namespace fails.
type blinded struct {
	controllertest.Engine
	looks int
}

func (b *blinded) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if b.looks++; b.looks == 2 {
		return nil, controllertest.ErrAway
	}
	return b.Engine.Get(ctx, gr, namespace, name)
}

// While it is not known whether a namespace is the one that goes, nothing in it is deleted.
func TestNothingGoesWhileTheNamespaceIsNotSeen_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 1)
	ns := controllertest.MustGet(t, o, gvr.Namespaces, "", "work")
	if err := unstructured.SetNestedField(ns.Object, "Terminating", "status", "phase"); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Update(t.Context(), gvr.Namespaces, "status", ns); err != nil {
		t.Fatal(err)
	}
	deleteNamespace(t, o, "work")
	o.Fail(func(op string, key controller.Key) error {
		if op == "delete" {
			t.Errorf("%s is deleted", key)
		}
		return nil
	})
	b := &blinded{Engine: o}
	c := namespace.NewFinalizer(b, b, o.Stored(), gone())
	if err := c.Reconcile(t.Context(), deaf{}, work); !errors.Is(err, controllertest.ErrAway) || b.looks != 2 {
		t.Errorf("after %d looks: %v", b.looks, err)
	}
}
