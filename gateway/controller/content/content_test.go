package content_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/content"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
)

var everywhere = controller.Scope{GroupResource: controllertest.CronTabs}

func TestSweep(t *testing.T) {
	o := controllertest.WithCronTabs(t, 20)
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "held", "example.com/hold"))
	o.Hold(controllertest.CronTabs)
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "unseen"))
	left, errs := content.Sweep(context.Background(), o, everywhere, always)
	if len(errs) != 0 || len(left) != 1 || left[0].Name != "held" {
		t.Fatalf("left %v, %v", left, errs)
	}
	writes := o.Writes()
	if left, errs = content.Sweep(context.Background(), o, everywhere, always); len(errs) != 0 || len(left) != 1 || o.Writes() != writes {
		t.Errorf("what is marked was deleted again: %v, %v", left, errs)
	}
	none := controller.Scope{GroupResource: schema.GroupResource{Group: "example.com", Resource: "nothings"}}
	if left, errs := content.Sweep(context.Background(), o, none, always); len(left) != 0 || len(errs) != 0 {
		t.Errorf("of a kind that is not served: %v, %v", left, errs)
	}
	elsewhere := controller.Scope{GroupResource: controllertest.CronTabs, Namespace: "other"}
	if left, errs := content.Sweep(context.Background(), o, elsewhere, always); len(left) != 0 || len(errs) != 0 {
		t.Errorf("in another namespace: %v, %v", left, errs)
	}
}

func TestSweepReportsWhatFails(t *testing.T) {
	o := controllertest.WithCronTabs(t, 3)
	o.Fail(func(op string, key controller.Key) error {
		if op == "delete" && key.Name == "tab-1" {
			return apierrors.NewInternalError(errors.New("disk on fire"))
		}
		return nil
	})
	left, errs := content.Sweep(context.Background(), o, everywhere, always)
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "delete crontabs.example.com work/tab-1: ") || !strings.Contains(errs[0].Error(), "disk on fire") || len(left) != 3 {
		t.Errorf("left %v, %v", left, errs)
	}
	o.Fail(func(op string, _ controller.Key) error {
		if op == "list" {
			return apierrors.NewInternalError(errors.New("no list"))
		}
		return nil
	})
	if left, errs := content.Sweep(context.Background(), o, everywhere, always); len(errs) != 1 || !strings.Contains(errs[0].Error(), "list crontabs.example.com: ") || len(left) != 0 {
		t.Errorf("%v, %v", left, errs)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, errs := content.Sweep(ctx, o, everywhere, always); len(errs) == 0 {
		t.Error("swept with a context that has ended")
	}
}

// What fails is told in the order of the objects' names, whatever was tried first.
func TestDeleteTellsInOrder(t *testing.T) {
	o := controllertest.WithCronTabs(t, 8)
	last := make(chan struct{})
	o.Fail(func(op string, key controller.Key) error {
		if op == "delete" {
			if key.Name == "tab-0" {
				close(last)
			}
			<-last
			return apierrors.NewInternalError(errors.New("disk on fire"))
		}
		return nil
	})
	items, err := content.List(t.Context(), o, everywhere)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(items, func(a, b metav1.PartialObjectMetadata) int { return strings.Compare(b.Name, a.Name) })
	for n, err := range content.Delete(t.Context(), o, everywhere, items) {
		if want := fmt.Sprintf("/tab-%d: ", n); !strings.Contains(err.Error(), want) {
			t.Errorf("%d is %v, want %s", n, err, want)
		}
	}
}

// late fails in the middle of a sweep.
type late struct {
	content.Objects
	lists, fresh atomic.Int32
	failList     int32
	failFresh    int32
}

func (l *late) ListMetadata(ctx context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	if l.lists.Add(1) == l.failList {
		return nil, errors.New("no list")
	}
	return l.Objects.ListMetadata(ctx, gr, namespace)
}

func (l *late) Fresh(ctx context.Context) error {
	if l.fresh.Add(1) == l.failFresh {
		return errors.New("not fresh")
	}
	return l.Objects.Fresh(ctx)
}

func TestSweepThatCannotLookAgain(t *testing.T) {
	for name, l := range map[string]*late{"list": {failList: 2}, "fresh": {failFresh: 2}, "first fresh": {failFresh: 1}, "first list": {failList: 1}} {
		l.Objects = controllertest.WithCronTabs(t, 2)
		if left, errs := content.Sweep(context.Background(), l, everywhere, always); len(errs) != 1 || len(left) != 0 {
			t.Errorf("%s: %v, %v", name, left, errs)
		}
	}
}

// Somebody who was faster is no failure, and an object that was made again
// under the same name is another one.
func TestDeleteWhatChangedMeanwhile(t *testing.T) {
	o := controllertest.WithCronTabs(t, 2)
	items, err := content.List(context.Background(), o, everywhere)
	if err != nil || len(items) != 2 {
		t.Fatal(items, err)
	}
	for i := range items {
		if err := o.Delete(context.Background(), controllertest.CronTabs, "work", items[i].Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "tab-1"))
	if errs := content.Delete(context.Background(), o, everywhere, items); len(errs) != 0 {
		t.Errorf("%v", errs)
	}
	if controllertest.Gone(o, controllertest.CronTabs, "work", "tab-1") {
		t.Error("another object of that name was deleted")
	}
	if errs := content.Delete(context.Background(), o, everywhere, nil); len(errs) != 0 {
		t.Errorf("nothing to delete: %v", errs)
	}
}

func TestSummaries(t *testing.T) {
	counts := map[string]int{"b": 1}
	content.CountFinalizers(counts, []metav1.PartialObjectMetadata{
		{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"b", "a"}}}, {ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"a"}}}, {},
	})
	if got := content.SortedCounts(counts, "%s in %d"); !slices.Equal(got, []string{"a in 2", "b in 2"}) {
		t.Errorf("%v", got)
	}
	if got := content.SortedCounts(nil, "%s in %d"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	o := controllertest.New()
	o.Fail(func(op string, key controller.Key) error { return fmt.Errorf("%s of %s", op, key) })
	errs := content.Delete(context.Background(), o, controller.Scope{GroupResource: controllertest.ConfigMaps}, []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "whole"}}})
	if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), "delete configmaps whole: ") {
		t.Errorf("%v", errs)
	}
}

// policies notes what is asked to become of dependents.
type policies struct {
	content.Objects
	mu   sync.Mutex
	seen []metav1.DeletionPropagation
}

func (p *policies) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if opts.PropagationPolicy != nil {
		p.seen = append(p.seen, *opts.PropagationPolicy)
	}
	return nil
}

// Kinds that leave their dependents by default do not wait for that in a scope
// that is emptied.
func TestDelete_leavesDependentsToTheCollector_DEL05(t *testing.T) {
	p := &policies{}
	items := []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}
	if errs := content.Delete(context.Background(), p, controller.Scope{}, items); len(errs) > 0 || len(p.seen) != 1 || p.seen[0] != metav1.DeletePropagationBackground {
		t.Errorf("asked for %v, %v", p.seen, errs)
	}
}

// always is asked whether what is emptied is still there, and says so.
func always(context.Context) error { return nil }
