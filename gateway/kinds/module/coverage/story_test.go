package coverage_test

import (
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/coverage"
)

// What a module lacks is said, and of another module of its name what that lacks.
func TestCoverageWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			w := world{controllertest.New()}
			w.define(t, "ks.example.com", "tabs", "v1", "v2")
			w.define(t, "others.example.com", "another", "v1", "v2")
			controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
			w.converts(t, "example.com/v1-example.com/v2")
			return w.Objects
		},
		Lead: func(s *controllertest.Seat) []controller.Controller { return []controller.Controller{coverage.New(s)} },
		Main: controller.Key{GroupResource: gvr.Modules, Name: "tabs"},
		Again: func(t *testing.T, o *controllertest.Objects) {
			world{o}.converts(t, "example.com/v1-example.com/v2")
		},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			status, reason, _ := controllertest.Condition(controllertest.MustGet(t, o, gvr.Modules, "", "tabs"), module.ConversionsComplete)
			return status + " " + reason
		},
		Want: "False ConversionMissing",
	}.Tell(t)
}
