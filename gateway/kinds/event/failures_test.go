package event_test

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/event"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// conditions writes those of the module, whatever they are.
func conditions(t *testing.T, o controllertest.Engine, status any) {
	t.Helper()
	controllertest.MustChange(t, o, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) { obj.Object["status"] = map[string]any{"conditions": status} })
}

// What cannot be read, or told, is an error, and another run tells it.
func TestFailuresToTellAreErrors(t *testing.T) {
	key := controller.Key{GroupResource: gvr.Modules, Name: "tabs"}
	var of *controllertest.Failing
	var c *event.Controller
	controllertest.EachCallFails(t, 2, func() controllertest.Engine {
		o := controllertest.New()
		controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("default"))
		controllertest.MustCreate(t, o, gvr.Modules, controllertest.ObjectTree("", "tabs"))
		return o
	}, func(f *controllertest.Failing) error {
		if of != f { // it sees the module before that has conditions
			number := f.Number
			of, c, f.Number = f, event.New(f, gvr.Modules), 0
			if err := c.Reconcile(t.Context(), nil, key); err != nil {
				t.Fatal(err)
			}
			f.Number, f.Calls = number, 0
			conditions(t, f.Engine, []any{map[string]any{"type": "Ready", "status": string(metav1.ConditionFalse), "reason": "Broken", "message": "it is broken"}})
		}
		return c.Reconcile(t.Context(), nil, key)
	}, func(f *controllertest.Failing) error {
		if all, err := f.Engine.List(t.Context(), gvr.Events, ""); err != nil || len(all) != 1 || all[0].Object["reason"] != "Broken" {
			return errors.New("it is not told once")
		}
		return nil
	})
	o := controllertest.New()
	controllertest.MustCreate(t, o, gvr.Modules, controllertest.ObjectTree("", "tabs"))
	conditions(t, o, "text")
	if err := event.New(o, gvr.Modules).Reconcile(t.Context(), nil, key); err == nil {
		t.Error("conditions that cannot be read are no error")
	}
}
