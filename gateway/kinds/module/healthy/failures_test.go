package healthy_test

import (
	"errors"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	modulecalls "github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/healthy"
)

// deaf is a queue that nobody listens to.
type deaf struct{}

func (deaf) Add(controller.Key)                         {}
func (deaf) AddAfter(controller.Key, time.Duration)     {}
func (deaf) Follow(controller.Key, ...controller.Scope) {}

// Whatever call fails, it is told, and another run says how calls go.
func TestFailuresToSayHowCallsGoAreTold(t *testing.T) {
	tabs := controller.Key{GroupResource: gvr.Modules, Name: "tabs"}
	g := &gateway{Calls: modulecalls.New()}
	g.serve(&one)
	g.fails()
	scene := func() controllertest.Engine {
		w := world{controllertest.New()}
		controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
		w.serve(t, one)
		return w.Objects
	}
	controllertest.EachCallFails(t, 2, scene, func(f *controllertest.Failing) error {
		return healthy.New(f, g.status, g.Calls, "here").Reconcile(t.Context(), deaf{}, tabs)
	}, func(f *controllertest.Failing) error {
		calls := module.CallsOf(controllertest.MustGet(t, f.Engine, gvr.Modules, "", "tabs"))
		if calls == nil || len(calls.Failing) != 1 || calls.Failing[0].Gateway != "here" {
			return errors.New("it does not say that calls fail")
		}
		return nil
	})
}
