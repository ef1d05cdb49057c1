package load_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
)

// A module serves as its object wants it, and the object says so, whatever happens
// to the gateways that load it.
func TestModuleWhateverHappens(t *testing.T) {
	var content *memoryContent
	var last *memoryModules
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			w := newModuleWorld()
			content = w.content
			createModule(t, w, inlineSpec("good"))
			return w.Objects
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			last = &memoryModules{serving: map[string]plugins.Revision{}}
			return []controller.Controller{load.New(s, last, content, trust.New(s))}
		},
		Main: controller.Key{GroupResource: gvr.Modules, Name: "tabs"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			obj := controllertest.MustGet(t, o, gvr.Modules, "", "tabs")
			_, compiled, _ := controllertest.Condition(obj, "Compiled")
			_, ready, _ := controllertest.Condition(obj, "Ready")
			serves, _, _ := unstructured.NestedString(obj.Object, "status", "digest")
			rev, _ := last.get("tabs")
			return compiled + " " + ready + " " + serves + " and " + string(rev.Bytes)
		},
		Want: "Compiled Serving " + digest("good") + " and good",
	}.Tell(t)
}
