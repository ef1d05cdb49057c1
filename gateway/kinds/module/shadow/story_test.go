package shadow_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/shadow"
	"github.com/wasmgate/wasmgate/plugins"
)

// A candidate has its whole report, once, whatever happens to who tries it.
func TestTrialWhateverHappens(t *testing.T) {
	var r *runtime
	var tried *trials
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			r = &runtime{loaded: map[string]plugins.Revision{"tabs": {Digest: "good 1", Bytes: []byte("good 1")}}}
			tried = &trials{one: tells(module.Part{Report: module.Report{Conversions: 3, Different: 1}}, module.Part{Report: module.Report{Conversions: 2}})}
			o := controllertest.New()
			controllertest.MustCreate(t, o, gvr.Definitions, map[string]any{"metadata": map[string]any{"name": "crontabs.example.com"},
				"spec": map[string]any{"group": "example.com", "names": map[string]any{"plural": "crontabs"},
					"conversion": map[string]any{"webhook": map[string]any{"clientConfig": map[string]any{"url": "wasm://tabs"}}}},
			})
			controllertest.MustCreate(t, o, gvr.Modules, map[string]any{"metadata": map[string]any{"name": "tabs"}, "spec": spec("good 1")})
			waits(t, o)
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{shadow.New(s, r, r, tried)}
		},
		Main:  controller.Key{GroupResource: gvr.Modules, Name: "tabs"},
		Again: waits,
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			c, _, ok := module.CandidateOf(controllertest.MustGet(t, o, gvr.Modules, "", "tabs"), r.Digest)
			if !ok || c.Report == nil {
				return "no report"
			}
			if _, left := r.Status("tabs@candidate"); left {
				t.Error("the candidate is loaded still")
			}
			return string(c.Report.State) + " " + c.Report.Message
		},
		Want: "Completed conversions: 5, different: 1, failed: 0",
	}.Tell(t)
}

// waits lets another revision wait for its promotion.
func waits(t *testing.T, o *controllertest.Objects) {
	t.Helper()
	controllertest.MustChange(t, o, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) { obj.Object["spec"] = spec("good 2") })
	rev := plugins.Revision{Digest: "good 2", Bytes: []byte("good 2")}
	controllertest.MustChange(t, o, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		obj.Object["status"] = map[string]any{"digest": "good 1", "candidate": map[string]any{"revision": module.RevisionName(rev) + "-" + string(obj.GetUID()), "digest": "good 2"}}
	})
}
