package serviceaccount

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// asked is a queue that remembers what was asked for later.
type asked struct {
	controller.Queue
	after time.Duration
}

func (a *asked) AddAfter(key controller.Key, d time.Duration) {
	if key == tracked {
		a.after = d
	}
}

// tracking is the controller over an engine, at a time that the test moves.
func tracking(t *testing.T) (e *realengine.Engine, c *Tracking, now *time.Time) {
	e, at := realengine.Start(t), began
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree(tracked.Namespace))
	c = NewTracking(e)
	c.now = func() time.Time { return at }
	return e, c, &at
}

// since is what the ConfigMap says, "" where there is none.
func since(t *testing.T, e *realengine.Engine) string {
	t.Helper()
	obj, err := e.Get(t.Context(), configMaps, tracked.Namespace, tracked.Name)
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := unstructured.NestedString(obj.Object, "data", trackingSince)
	return text
}

// look has the controller look at the ConfigMap.
func look(t *testing.T, e *realengine.Engine, c *Tracking) time.Duration {
	t.Helper()
	var q asked
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Reconcile(t.Context(), &q, tracked); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q.after
}

// The ConfigMap is made once and keeps its day, unless that is none; what was deleted is
// made again, but not at once.
func TestSinceWhenUsesAreNoted(t *testing.T) {
	e, c, now := tracking(t)
	if err := c.Reconcile(t.Context(), nil, controller.Key{GroupResource: configMaps, Namespace: "default", Name: trackingMap}); err != nil || since(t, e) != "" {
		t.Errorf("another one: %v", err)
	}
	look(t, e, c)
	if got := since(t, e); got != "2026-11-22" {
		t.Fatalf("since %q", got)
	}
	*now = now.Add(24 * time.Hour)
	if look(t, e, c); since(t, e) != "2026-11-22" {
		t.Error("the day is written again")
	}
	controllertest.MustChange(t, e, configMaps, "", tracked.Namespace, tracked.Name, func(o *unstructured.Unstructured) {
		o.Object["data"] = map[string]any{trackingSince: "yesterday", "a": "b"}
	})
	look(t, e, c)
	kept, _, _ := unstructured.NestedString(controllertest.MustGet(t, e, configMaps, tracked.Namespace, tracked.Name).Object, "data", "a")
	if got := since(t, e); got != "2026-11-23" || kept != "b" {
		t.Errorf("since %q, with %q", got, kept)
	}
	gone := func() {
		t.Helper()
		if err := e.Delete(t.Context(), configMaps, tracked.Namespace, tracked.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	gone()
	look(t, e, c)
	if since(t, e) != "2026-11-23" {
		t.Fatal("it is not made again")
	}
	gone()
	*now = now.Add(madeAgain / 3)
	if wait := look(t, e, c); wait != madeAgain/3*2 || since(t, e) != "" {
		t.Errorf("made again at once, or looked for after %v", wait)
	}
	*now = now.Add(madeAgain / 3 * 2)
	if look(t, e, c); since(t, e) == "" {
		t.Error("it is never made again")
	}
}

// lost is an engine that makes nothing.
type lost struct{ *realengine.Engine }

func (lost) Create(context.Context, schema.GroupResource, *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return nil, apierrors.NewInternalError(context.Canceled)
}

// What could not be made does not count as made, and the failure is the controller's.
func TestTrackingThatCannotBeMadeIsTriedAgain(t *testing.T) {
	e, c, _ := tracking(t)
	c.objects = lost{e}
	if err := c.Reconcile(t.Context(), nil, tracked); err == nil {
		t.Error("a failure is not told")
	}
	c.objects = e
	if look(t, e, c); since(t, e) == "" {
		t.Error("it waits after a failure")
	}
	controllertest.Start(t, e, NewTracking(e)) // as it is run, it is seeded
	if err := e.Delete(t.Context(), configMaps, tracked.Namespace, tracked.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	controllertest.Eventually(t, e, "the ConfigMap", func() bool { return since(t, e) == day(time.Now()) })
}
