package image_test

import (
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/image"
)

// An image is noted as it was pulled, of the module that there is.
func TestPullWhateverHappens(t *testing.T) {
	var r *registry
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			r = &registry{images: map[string]string{"r/tabs:v1": "one"}, fails: &image.Refusal{Reason: "ImageNotFound"}}
			o := controllertest.New()
			controllertest.MustCreate(t, o, gvr.Modules, map[string]any{
				"metadata": map[string]any{"name": "tabs"}, "spec": map[string]any{"source": oci("r/tabs:v1")},
			})
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{image.New(s, r)}
		},
		Main: controller.Key{GroupResource: gvr.Modules, Name: "tabs"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			obj := controllertest.MustGet(t, o, gvr.Modules, "", "tabs")
			status, reason, _ := controllertest.Condition(obj, module.Pulled)
			pulled, _ := module.PulledOf(obj)
			if asked, _ := r.seen(); len(asked) > 2 { // once by each leader, or for each module
				t.Errorf("asked for %q", asked)
			}
			return status + " " + reason + " " + pulled.Image + " " + pulled.Digest
		},
		Want: "True Pulled r/tabs:v1 sha256:one",
	}.Tell(t)
}
