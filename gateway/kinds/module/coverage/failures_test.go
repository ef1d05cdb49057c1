package coverage_test

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/coverage"
)

// heard is a queue that remembers whom it was asked for.
type heard []string

func (h *heard) Add(key controller.Key)                   { *h = append(*h, key.Name) }
func (*heard) AddAfter(controller.Key, time.Duration)     {}
func (*heard) Follow(controller.Key, ...controller.Scope) {}

// Whatever call fails, it is told, and another run says what the module lacks.
func TestFailuresOfCoverageAreTold(t *testing.T) {
	tabs := controller.Key{GroupResource: gvr.Modules, Name: "tabs"}
	scene := func() controllertest.Engine {
		w := world{controllertest.New()}
		w.define(t, "ks.example.com", "tabs", "v1", "v2")
		controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
		w.converts(t, "example.com/v1-example.com/v2")
		return w.Objects
	}
	controllertest.EachCallFails(t, 3, scene, func(f *controllertest.Failing) error {
		return coverage.New(f).Reconcile(t.Context(), &heard{}, tabs)
	}, func(f *controllertest.Failing) error {
		if status, _, _ := controllertest.Condition(controllertest.MustGet(t, f.Engine, gvr.Modules, "", "tabs"), module.ConversionsComplete); status != "False" {
			return errors.New("it does not say what it lacks")
		}
		return nil
	})
	controllertest.EachCallFails(t, 1, scene, func(f *controllertest.Failing) error {
		var asked heard
		err := coverage.New(f).Reconcile(t.Context(), &asked, controller.Key{GroupResource: gvr.Definitions, Name: "ks.example.com"})
		if err == nil && (len(asked) != 1 || asked[0] != "tabs") {
			t.Errorf("modules that are looked at: %q", asked)
		}
		return err
	}, nil)
	o := scene().(*controllertest.Objects)
	controllertest.MustChange(t, o, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) { obj.Object["status"] = map[string]any{"conditions": "text"} })
	if err := coverage.New(o).Reconcile(t.Context(), &heard{}, tabs); err == nil {
		t.Error("conditions that cannot be read are no error")
	}
}
