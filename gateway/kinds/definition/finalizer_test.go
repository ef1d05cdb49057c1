package definition_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

func TestCRDFinalizer_deletesInstancesWithoutConverting(t *testing.T) {
	o := controllertest.WithCronTabs(t, 25)
	o.Break(controllertest.CronTabs)
	controllertest.Start(t, o, definition.NewFinalizer(o, o, o.Stored()))
	controllertest.DeleteDefinition(t, o)
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) })
	left, err := o.ListMetadata(context.Background(), controllertest.CronTabs, "")
	if err != nil || len(left) != 0 {
		t.Errorf("%d instances left, %v", len(left), err)
	}
}

func TestCRDFinalizer_waitsForInstanceFinalizers_DEL02_DEL03(t *testing.T) {
	o := controllertest.WithCronTabs(t, 3)
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "held", "example.com/one", "example.com/two"))
	controllertest.Start(t, o, definition.NewFinalizer(o, o, o.Stored()))
	controllertest.DeleteDefinition(t, o)

	waiting := func() bool {
		status, reason, message := controllertest.Condition(controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition), "Terminating")
		return status == "True" && reason == "InstanceDeletionCheck" && strings.Contains(message, "example.com/two in 1")
	}
	controllertest.Eventually(t, o, "waiting for the finalizers", waiting)
	// Their order does not matter, and the last one lets the object go at once.
	controllertest.RemoveFinalizer(t, o, controllertest.CronTabs, "work", "held", "example.com/one")
	if controllertest.Gone(o, controllertest.CronTabs, "work", "held") {
		t.Fatal("gone with a finalizer left")
	}
	controllertest.RemoveFinalizer(t, o, controllertest.CronTabs, "work", "held", "example.com/two")
	if !controllertest.Gone(o, controllertest.CronTabs, "work", "held") {
		t.Fatal("not gone without finalizers")
	}
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) })
	controllertest.Eventually(t, o, "no follower left", func() bool { return o.Followers(controllertest.CronTabs) == 0 })
}

func TestCRDFinalizer_deletesWhatTheCacheDidNotShowYet(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	o.Hold(controllertest.CronTabs)
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "unseen"))
	controllertest.DeleteDefinition(t, o)
	controllertest.Start(t, o, definition.NewFinalizer(o, o, o.Stored()))
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) })
	if err := o.Fresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !controllertest.Gone(o, controllertest.CronTabs, "work", "unseen") {
		t.Error("an instance outlived its definition")
	}
}

// While somebody else's finalizer holds a definition that was emptied, it goes
// on terminating.
func TestCRDFinalizer_terminatesUntilOthersLetGo_DEL02(t *testing.T) {
	o := controllertest.WithCronTabs(t, 2)
	obj := controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition)
	obj.SetFinalizers(append(obj.GetFinalizers(), "example.com/mine"))
	if _, err := o.Update(context.Background(), gvr.Definitions, "", obj); err != nil {
		t.Fatal(err)
	}
	controllertest.Start(t, o, definition.NewFinalizer(o, o, o.Stored()))
	controllertest.DeleteDefinition(t, o)
	controllertest.Eventually(t, o, "emptied", func() bool {
		obj := controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition)
		return slices.Equal(obj.GetFinalizers(), []string{"example.com/mine"})
	})
	status, reason, _ := controllertest.Condition(controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition), "Terminating")
	if status != "True" || reason != "InstanceDeletionCompleted" {
		t.Errorf("Terminating is %s, %s", status, reason)
	}
	controllertest.RemoveFinalizer(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition, "example.com/mine")
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) })
}

func TestCRDFinalizer_neverEstablished(t *testing.T) {
	o := &reporting{Objects: controllertest.New()}
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1"))
	controllertest.Start(t, o, definition.NewFinalizer(o, o, o.Stored()))
	controllertest.DeleteDefinition(t, o)
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) })
	if last := o.last(); last != "status False NeverEstablished" {
		t.Errorf("the last report is %q", last)
	}
}

func TestCRDFinalizer_reportsFailureAndTriesAgain(t *testing.T) {
	o := controllertest.WithCronTabs(t, 1)
	var broken atomic.Bool
	broken.Store(true)
	o.Fail(func(op string, key controller.Key) error {
		if op == "delete" && key.GroupResource == controllertest.CronTabs && broken.Load() {
			return apierrors.NewInternalError(errors.New("disk on fire"))
		}
		return nil
	})
	controllertest.Start(t, o, definition.NewFinalizer(o, o, o.Stored()))
	controllertest.DeleteDefinition(t, o)
	controllertest.Eventually(t, o, "failure reported", func() bool {
		_, reason, message := controllertest.Condition(controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition), "Terminating")
		return reason == "InstanceDeletionFailed" && strings.Contains(message, "disk on fire")
	})
	broken.Store(false)
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) })
}

// defineAs makes and establishes a definition of a kind that exists already,
// deletes it and waits until it is gone. It returns the last report.
func defineAs(t *testing.T, objects *controllertest.Objects, gr schema.GroupResource) string {
	t.Helper()
	name, o := gr.String(), &reporting{Objects: objects}
	tree := controllertest.CRDTree(gr.Resource, "Twin", "v1")
	tree["metadata"].(map[string]any)["name"] = name
	tree["spec"].(map[string]any)["group"] = gr.Group
	controllertest.MustCreate(t, o, gvr.Definitions, tree)
	controllertest.Establish(t, o, name, "v1")
	stop := controllertest.Start(t, o, definition.NewFinalizer(o, o, o.Stored()))
	defer stop()
	if err := o.Delete(context.Background(), gvr.Definitions, "", name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, gvr.Definitions, "", name) })
	return o.last()
}

// A definition that is named like a built-in kind takes none of its objects
// along.
func TestCRDFinalizer_leavesBuiltInsAlone(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
	controllertest.MustCreate(t, o, controllertest.Leases, controllertest.ObjectTree("work", "leader"))
	controllertest.MustCreate(t, o, gvr.Modules, controllertest.ObjectTree("", "module"))
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1"))
	for gr, want := range map[schema.GroupResource]string{
		controllertest.Leases: "InstanceDeletionCompleted",
		gvr.Modules:           "OverlappingBuiltInResource",
		gvr.Definitions:       "OverlappingBuiltInResource",
	} {
		if last := defineAs(t, o, gr); last != "status False "+want {
			t.Errorf("%s: the last report is %q, want %s", gr, last, want)
		}
	}
	for _, key := range []controller.Key{
		{GroupResource: controllertest.Leases, Namespace: "work", Name: "leader"},
		{GroupResource: gvr.Modules, Name: "module"},
		{GroupResource: gvr.Definitions, Name: controllertest.CronTabsDefinition},
	} {
		if controllertest.MustGet(t, o, key.GroupResource, key.Namespace, key.Name).GetDeletionTimestamp() != nil {
			t.Errorf("%s was deleted with a definition named like its kind", key)
		}
	}
}

// That a definition cannot be served does not mean that it has no instances.
func TestCRDFinalizer_emptiesWhatIsNotServed(t *testing.T) {
	o := controllertest.WithCronTabs(t, 3)
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "held", "example.com/hold"))
	o.Unserve(controllertest.CronTabs)
	controllertest.Start(t, o, definition.NewFinalizer(o, o, o.Stored()))
	controllertest.DeleteDefinition(t, o)
	controllertest.Eventually(t, o, "waiting for the finalizer", func() bool {
		_, reason, message := controllertest.Condition(controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition), "Terminating")
		return reason == "InstanceDeletionCheck" && strings.Contains(message, "1 left, held by finalizers: example.com/hold in 1")
	})
	if !controllertest.Gone(o, controllertest.CronTabs, "work", "tab-0") {
		t.Error("an instance without finalizers is still there")
	}
	controllertest.RemoveFinalizer(t, o, controllertest.CronTabs, "work", "held", "example.com/hold")
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) })
}

// The phases are reported one after the other: what other conditions say does
// not stand for the report that deletion began.
func TestCRDFinalizer_reportsThatItBegins(t *testing.T) {
	o := &reporting{Objects: controllertest.WithCronTabs(t, 1)}
	controllertest.MustChange(t, o.Objects, gvr.Definitions, "status", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
		conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		conditions = append([]any{map[string]any{"type": "Terminating", "status": "False", "reason": "InstanceDeletionInProgress", "message": "m", "lastTransitionTime": "2020-01-01T00:00:00Z"}}, append(conditions,
			map[string]any{"type": "Other", "status": "True", "reason": "InstanceDeletionInProgress", "message": "m"})...)
		obj.Object["status"].(map[string]any)["conditions"] = conditions
	})
	o.Fail(func(op string, key controller.Key) error {
		if key.GroupResource == controllertest.CronTabs && op == "delete" {
			status, reason, _ := controllertest.Condition(controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition), "Terminating")
			o.note("delete", status, reason)
			if n, at := terminatingConditions(t, o.Objects); n != 1 || at == "2020-01-01T00:00:00Z" {
				t.Errorf("%d conditions of one type, since %s", n, at)
			}
		}
		return nil
	})
	controllertest.Start(t, o, definition.NewFinalizer(o, o, o.Stored()))
	controllertest.DeleteDefinition(t, o)
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) })
	o.has(t, "status True InstanceDeletionInProgress "+cleanup, "delete True InstanceDeletionInProgress", "status False InstanceDeletionCompleted")
}

// terminatingConditions counts the conditions of that type, and tells since
// when the last one is what it is.
func terminatingConditions(t *testing.T, o *controllertest.Objects) (n int, since string) {
	t.Helper()
	obj := controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition)
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == "Terminating" {
			n++
			since, _ = c["lastTransitionTime"].(string)
		}
	}
	return n, since
}

// A condition that stays what it is keeps the time since when, and is not
// written again when nothing of it changes.
func TestCRDFinalizer_conditionsKeepTheirTime(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "held", "example.com/hold"))
	controllertest.DeleteDefinition(t, o)
	controllertest.MustChange(t, o, gvr.Definitions, "status", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
		conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		obj.Object["status"].(map[string]any)["conditions"] = append(conditions, map[string]any{
			"type": "Terminating", "status": "True", "reason": "InstanceDeletionInProgress", "message": "m", "lastTransitionTime": "2020-01-01T00:00:00Z"})
	})
	key := controller.Key{GroupResource: gvr.Definitions, Name: controllertest.CronTabsDefinition}
	f := definition.NewFinalizer(o, o, o.Stored())
	q := &heard{}
	for range 2 {
		if err := f.Reconcile(context.Background(), q, key); err != nil {
			t.Fatal(err)
		}
		if n, since := terminatingConditions(t, o); n != 1 || since != "2020-01-01T00:00:00Z" {
			t.Errorf("%d conditions, since %s", n, since)
		}
	}
	writes := o.Writes()
	if err := f.Reconcile(context.Background(), q, key); err != nil || o.Writes() != writes {
		t.Errorf("%d writes for nothing, %v", o.Writes()-writes, err)
	}
	if q.follows != 3 || q.later != 3 {
		t.Errorf("asked to be woken %d times by changes and %d times later", q.follows, q.later)
	}
}

// heard is a queue that counts what it is asked for.
type heard struct{ follows, later int }

func (h *heard) Add(controller.Key)                     {}
func (h *heard) AddAfter(controller.Key, time.Duration) { h.later++ }
func (h *heard) Follow(_ controller.Key, scopes ...controller.Scope) {
	if len(scopes) == 1 && scopes[0].GroupResource == controllertest.CronTabs {
		h.follows++
	}
}

// untouched are objects that nobody may delete directly.
type untouched struct {
	controllertest.Stored
	t *testing.T
}

func (u untouched) Delete(_ context.Context, gr schema.GroupResource, _, name string, _ metav1.DeleteOptions) error {
	u.t.Errorf("%s %s was deleted in the store, past the engine", gr, name)
	return nil
}

// What is served goes through the engine, which tells watchers and hooks.
func TestCRDFinalizer_deletesWhatIsServedLikeAClient(t *testing.T) {
	o := controllertest.WithCronTabs(t, 3)
	controllertest.Start(t, o, definition.NewFinalizer(o, o, untouched{o.Stored(), t}))
	controllertest.DeleteDefinition(t, o)
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) })
}

// cutOff are objects that cannot be brought up to date from the second time on.
type cutOff struct {
	*controllertest.Objects
	asked int
}

func (c *cutOff) Fresh(ctx context.Context) error {
	if c.asked++; c.asked > 1 {
		return errors.New("cut off")
	}
	return c.Objects.Fresh(ctx)
}

// Who cannot find out whether the definition is still the one that is being emptied
// deletes nothing.
func TestCRDFinalizer_deletesNothingWhenCutOff(t *testing.T) {
	o := controllertest.WithCronTabs(t, 3)
	controllertest.DeleteDefinition(t, o)
	err := definition.NewFinalizer(o, &cutOff{Objects: o}, o.Stored()).Reconcile(t.Context(), &heard{}, controller.Key{GroupResource: gvr.Definitions, Name: controllertest.CronTabsDefinition})
	if err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Error(err)
	}
	if left, err := o.ListMetadata(t.Context(), controllertest.CronTabs, ""); err != nil || len(left) != 3 {
		t.Errorf("%d instances are left, %v", len(left), err)
	}
}
