package event_test

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

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

// Whatever an object is called, it is told of, under a name that events may have; an event
// that is not taken, as it is not valid, is not tried for ever.
func TestWhateverAnObjectIsCalled(t *testing.T) {
	long := strings.Repeat("a", 199)
	for _, name := range []string{"tabs", long + "-b", long + ".b", long + "bcd"} {
		o := controllertest.New()
		controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("default"))
		controllertest.MustCreate(t, o, gvr.Modules, controllertest.ObjectTree("", name))
		key := controller.Key{GroupResource: gvr.Modules, Name: name}
		c := event.New(o, gvr.Modules)
		become := func(reason string) {
			t.Helper()
			controllertest.MustChange(t, o, gvr.Modules, "status", "", name, func(obj *unstructured.Unstructured) {
				obj.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": reason, "message": ""}}}
			})
			if err := c.Reconcile(t.Context(), nil, key); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := c.Reconcile(t.Context(), nil, key); err != nil {
			t.Fatal(err)
		}
		become("Serving")
		all, err := o.List(t.Context(), gvr.Events, "default")
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %d events, %v", name, len(all), err)
		}
		if wrong := validation.IsDNS1123Subdomain(all[0].GetName()); len(wrong) > 0 {
			t.Errorf("%s: %v", all[0].GetName(), wrong)
		}
		o.Fail(func(op string, key controller.Key) error {
			if key.GroupResource == gvr.Events && op == "create" {
				return apierrors.NewInvalid(schema.GroupKind{Kind: "Event"}, key.Name, nil)
			}
			return nil
		})
		become("Idle")
	}
}
