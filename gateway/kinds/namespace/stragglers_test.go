package namespace

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// delays is a queue that notes what is asked for later.
type delays []time.Duration

func (d *delays) Add(controller.Key)                             {}
func (d *delays) AddAfter(_ controller.Key, after time.Duration) { *d = append(*d, after) }
func (d *delays) Follow(controller.Key, ...controller.Scope)     {}

func finalizer(o *controllertest.Objects) *Finalizer {
	return NewFinalizer(o, o, o.Stored(), leftovers.Gone{Store: storagetest.NewMemory(), Root: "/gone/"})
}

// reconcile looks at the namespace called work.
func reconcile(t *testing.T, f *Finalizer, d *delays) {
	t.Helper()
	if err := f.Reconcile(context.Background(), d, controller.Key{GroupResource: gvr.Namespaces, Name: "work"}); err != nil {
		t.Fatal(err)
	}
}

func remember(f *Finalizer) (checks int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next, ok := f.gone["work"]
	return next.check, ok
}

// A namespace that is gone is looked at as often as the checks say and when they
// say, whatever else happens to it, and then never again.
func TestStragglerChecksEnd_RES05(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := controllertest.WithCronTabs(t, 0)
		f, d := finalizer(o), &delays{}
		reconcile(t, f, d)
		if _, ok := remember(f); ok || len(*d) != 0 {
			t.Errorf("a namespace that stays: %v", *d)
		}
		if err := o.Delete(context.Background(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		reconcile(t, f, d)
		var want delays
		for n, after := range stragglerChecks {
			<-time.After(after / 4)
			reconcile(t, f, d) // for another reason: too early
			want = append(want, after, after-after/4)
			if checks, ok := remember(f); !ok || checks != n || !slices.Equal(*d, want) {
				t.Fatalf("after %d checks: %d, %v, %v", n, checks, ok, *d)
			}
			o.Smuggle(controllertest.CronTabs, controllertest.ObjectTree("work", "late"))
			<-time.After(after - after/4)
			reconcile(t, f, d)
			if !controllertest.Gone(o, controllertest.CronTabs, "work", "late") {
				t.Error("a straggler is still there")
			}
		}
		if _, ok := remember(f); ok || !slices.Equal(*d, want) {
			t.Errorf("it goes on: %v", *d)
		}
		reconcile(t, f, d)
		if !slices.Equal(*d, want) {
			t.Errorf("it begins again: %v", *d)
		}
	})
}

// What is in a namespace that was made again belongs there.
func TestStragglersOfANewNamespaceStay_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	f, d := finalizer(o), &delays{}
	if err := o.Delete(context.Background(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reconcile(t, f, d)
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "mine"))
	f.gone["work"] = next{} // it is time
	if err := f.stragglers(context.Background(), d, controller.Key{Name: "work"}); err != nil {
		t.Fatal(err)
	}
	if _, ok := remember(f); ok || controllertest.Gone(o, controllertest.CronTabs, "work", "mine") {
		t.Error("an object of the new namespace was deleted, or will be")
	}
}

// So is what a reader sees before it sees the namespace.
func TestStragglersOfANewNamespaceStay_unseen_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	f, d := finalizer(o), &delays{}
	if err := o.Delete(context.Background(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reconcile(t, f, d)
	f.gone["work"] = next{} // it is time
	made := false
	o.Fail(func(op string, key controller.Key) error {
		if op == "list" && !made { // while it is being looked for
			made = true
			o.Hold(gvr.Namespaces)
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
			o.Smuggle(controllertest.CronTabs, controllertest.ObjectTree("work", "mine"))
		}
		return nil
	})
	if err := f.stragglers(context.Background(), d, controller.Key{Name: "work"}); err != nil {
		t.Fatal(err)
	}
	if !made || controllertest.Gone(o, controllertest.CronTabs, "work", "mine") {
		t.Errorf("made %v, and an object of the new namespace was deleted", made)
	}
	if _, ok := remember(f); ok {
		t.Error("it will be looked at again")
	}
}

// What a reader does not see yet is a straggler all the same.
func TestStragglersGo_unseen_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	f, d := finalizer(o), &delays{}
	if err := o.Delete(context.Background(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reconcile(t, f, d)
	o.Hold(controllertest.CronTabs)
	o.Smuggle(controllertest.CronTabs, controllertest.ObjectTree("work", "late"))
	f.gone["work"] = next{} // it is time
	if err := f.stragglers(context.Background(), d, controller.Key{Name: "work"}); err != nil {
		t.Fatal(err)
	}
	if err := o.Fresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !controllertest.Gone(o, controllertest.CronTabs, "work", "late") {
		t.Error("a straggler that the cache lacked is still there")
	}
}

// Once its pods are gone what was around them goes at the same look: nothing has to
// happen, and no time to pass, before a namespace that nobody holds is gone.
func TestANamespaceWithPodsGoesAtOneLook_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 1)
	controllertest.MustCreate(t, o, gvr.Pods, controllertest.ObjectTree("work", "pod"))
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "guard"))
	if err := o.Delete(context.Background(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reconcile(t, finalizer(o), &delays{})
	if !controllertest.Gone(o, gvr.Namespaces, "", "work") {
		t.Error("it is still there")
	}
}

// What could not be listed after all else was deleted may still be there: the namespace
// stays, and the failure is told.
func TestNamespacesStayWhileSomethingCannotBeListed_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 2)
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "one"))
	if err := o.Delete(t.Context(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	lists := 0
	o.Fail(func(op string, key controller.Key) error {
		if op == "list" && key.GroupResource == controllertest.ConfigMaps {
			if lists++; lists > 1 {
				return errors.New("cut off")
			}
		}
		return nil
	})
	key := controller.Key{GroupResource: gvr.Namespaces, Name: "work"}
	if err := finalizer(o).Reconcile(t.Context(), &delays{}, key); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("told %v", err)
	}
	o.Fail(nil)
	if controllertest.Gone(o, gvr.Namespaces, "", "work") {
		t.Fatal("the namespace is gone")
	}
	if err := finalizer(o).Reconcile(t.Context(), &delays{}, key); err != nil || !controllertest.Gone(o, gvr.Namespaces, "", "work") {
		t.Errorf("it stays when all can be listed: %v", err)
	}
}

// A namespace that others hold after it was let go is looked at once it is gone.
func TestStragglersOfANamespaceThatOthersHold_RES05(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := controllertest.WithCronTabs(t, 0)
		f, d := finalizer(o), &delays{}
		controllertest.MustChange(t, o, gvr.Namespaces, "", "", "work", func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.com/hold"}) })
		if err := o.Delete(t.Context(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // also for the event of its own write
			reconcile(t, f, d)
		}
		<-time.After(stragglerChecks[0])
		reconcile(t, f, d)
		if checks, ok := remember(f); !ok || checks != 0 || controllertest.Gone(o, gvr.Namespaces, "", "work") {
			t.Fatalf("while it is held: %d, %t", checks, ok)
		}
		o.Smuggle(controllertest.CronTabs, controllertest.ObjectTree("work", "late"))
		controllertest.RemoveFinalizer(t, o, gvr.Namespaces, "", "work", "example.com/hold")
		reconcile(t, f, d)
		if !controllertest.Gone(o, controllertest.CronTabs, "work", "late") {
			t.Error("a straggler is still there")
		}
		if checks, ok := remember(f); !ok || checks != 1 {
			t.Errorf("after the first check: %d, %t", checks, ok)
		}
	})
}

// deafOnce are objects of which the reply to one update through a subresource is lost.
type deafOnce struct {
	*controllertest.Objects
	subresource string
}

func (o *deafOnce) Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	out, err := o.Objects.Update(ctx, gr, subresource, obj)
	if err == nil && subresource == o.subresource {
		o.subresource = "none"
		return nil, errors.New("no reply")
	}
	return out, err
}

// Nor does it matter whether anybody heard that it was let go.
func TestStragglersOfANamespaceWhoseEndWasNotHeardOf_RES05(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := controllertest.WithCronTabs(t, 0)
		f, d := finalizer(o), &delays{}
		f.objects = &deafOnce{o, "finalize"}
		if err := o.Delete(t.Context(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := f.Reconcile(t.Context(), d, controller.Key{GroupResource: gvr.Namespaces, Name: "work"}); err == nil || !controllertest.Gone(o, gvr.Namespaces, "", "work") {
			t.Fatalf("a lost reply: %v", err)
		}
		reconcile(t, f, d)
		o.Smuggle(controllertest.CronTabs, controllertest.ObjectTree("work", "late"))
		<-time.After(stragglerChecks[0])
		reconcile(t, f, d)
		if !controllertest.Gone(o, controllertest.CronTabs, "work", "late") {
			t.Error("a straggler is still there")
		}
	})
}

// Where a namespace of the name is being deleted by then, it is looked at after that.
func TestStragglersOfANamespaceThatGoesAgain_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	f, d := finalizer(o), &delays{}
	if err := o.Delete(t.Context(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reconcile(t, f, d)
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
	if err := o.Delete(t.Context(), gvr.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.gone["work"] = next{check: 1} // it is time
	if err := f.stragglers(t.Context(), d, controller.Key{Name: "work"}); err != nil {
		t.Fatal(err)
	}
	if checks, ok := remember(f); !ok || checks != 0 {
		t.Errorf("it is not looked at from the beginning: %d, %t", checks, ok)
	}
}
