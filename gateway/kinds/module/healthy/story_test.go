package healthy_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	modulecalls "github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/healthy"
)

// Calls that failed at each gateway for a while are answered in the end, and the module
// says so, whatever happened to the gateways: what those said that are gone is forgotten.
func TestHealthWhateverHappens(t *testing.T) {
	gateways := 0
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			w := world{controllertest.New()}
			controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
			controllertest.MustChange(t, w.Objects, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) {
				obj.Object["spec"] = map[string]any{"proof": "Report"} // a generation that one made again has not
			})
			w.serve(t, one)
			w.said(t, 1)
			return w.Objects
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			gateways++
			g := &gateway{Calls: modulecalls.New()}
			g.serve(&one)
			g.fails()
			time.AfterFunc(2*time.Minute, g.answers)
			return []controller.Controller{healthy.New(s, g.status, g.Calls, fmt.Sprint("a:", gateways))}
		},
		Main:  controller.Key{GroupResource: gvr.Modules, Name: "tabs"},
		Again: func(t *testing.T, o *controllertest.Objects) { world{o}.serve(t, one) },
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			obj := controllertest.MustGet(t, o, gvr.Modules, "", "tabs")
			status, reason, _ := controllertest.Condition(obj, module.Healthy)
			return fmt.Sprintf("%s %s, %d gateways fail", status, reason, len(module.CallsOf(obj).Failing))
		},
		Want: "True CallsSucceed, 0 gateways fail",
	}.Tell(t)
}
