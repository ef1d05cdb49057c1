package namespace

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
)

// delays is a queue that notes what is asked for later.
type delays []time.Duration

func (d *delays) Add(controller.Key)                             {}
func (d *delays) AddAfter(_ controller.Key, after time.Duration) { *d = append(*d, after) }
func (d *delays) Follow(controller.Key, ...controller.Scope)     {}

// reconcile looks at the namespace called work.
func reconcile(t *testing.T, f *Finalizer, d *delays) {
	t.Helper()
	if err := f.Reconcile(context.Background(), d, controller.Key{GroupResource: kinds.Namespaces, Name: "work"}); err != nil {
		t.Fatal(err)
	}
}

func remember(f *Finalizer) (checks int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	checks, ok = f.gone["work"]
	return checks, ok
}

// A namespace that is gone is looked at as often as the checks say, and then
// never again.
func TestStragglerChecksEnd_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	f, d := NewFinalizer(o, o, o.Stored()), &delays{}
	reconcile(t, f, d)
	if _, ok := remember(f); ok || len(*d) != 0 {
		t.Errorf("a namespace that stays: %v", *d)
	}
	if err := o.Delete(context.Background(), kinds.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reconcile(t, f, d)
	for n := range stragglerChecks {
		if checks, ok := remember(f); !ok || checks != n || !slices.Equal(*d, stragglerChecks[:n+1]) {
			t.Fatalf("after %d checks: %d, %v, %v", n, checks, ok, *d)
		}
		o.Smuggle(controllertest.CronTabs, map[string]any{"metadata": map[string]any{"name": "late", "namespace": "work"}})
		reconcile(t, f, d)
		if !controllertest.Gone(o, controllertest.CronTabs, "work", "late") {
			t.Error("a straggler is still there")
		}
	}
	if _, ok := remember(f); ok || !slices.Equal(*d, stragglerChecks) {
		t.Errorf("it goes on: %v", *d)
	}
	reconcile(t, f, d)
	if !slices.Equal(*d, stragglerChecks) {
		t.Errorf("it begins again: %v", *d)
	}
}

// What is in a namespace that was made again belongs there.
func TestStragglersOfANewNamespaceStay_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	f, d := NewFinalizer(o, o, o.Stored()), &delays{}
	if err := o.Delete(context.Background(), kinds.Namespaces, "", "work", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reconcile(t, f, d)
	controllertest.MustCreate(t, o, kinds.Namespaces, controllertest.NamespaceTree("work"))
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "mine"))
	if err := f.stragglers(context.Background(), d, controller.Key{Name: "work"}); err != nil {
		t.Fatal(err)
	}
	if _, ok := remember(f); ok || controllertest.Gone(o, controllertest.CronTabs, "work", "mine") {
		t.Error("an object of the new namespace was deleted, or will be")
	}
}
