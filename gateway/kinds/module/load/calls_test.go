package load_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// How calls went is told of the revision that serves: another one begins anew, the same
// one does not.
func TestHowCallsWentIsOfARevision(t *testing.T) {
	w := newModuleWorld()
	w.start(t)
	createModule(t, w, inlineSpec("good 1"))
	tells := func(obj *unstructured.Unstructured, wantReason, wantMessage string, wantFailing int) {
		t.Helper()
		_, reason, message := controllertest.Condition(obj, module.Healthy)
		calls := module.StatusOf(obj).Calls
		if calls == nil || len(calls.Failing) != wantFailing || reason != wantReason || !strings.Contains(message, wantMessage) {
			t.Errorf("%s, %q, %+v", reason, message, calls)
		}
	}
	tells(w.expect(t, "True Compiled", "True Serving", digest("good 1")), module.NoCalls, "no call was made yet since "+digest("good 1"), 0)
	controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		s := module.StatusOf(obj)
		s.Calls.Failing = []module.FailingCalls{{Gateway: "g:1", Calls: 3, Failed: 2}}
		if err := gvr.SetStatus(obj, &s); err != nil {
			t.Fatal(err)
		}
	})
	changeModule(t, w, func(obj *unstructured.Unstructured) {
		obj.Object["spec"].(map[string]any)["acknowledgedLoss"] = []any{"a"}
	})
	tells(w.expect(t, "True Compiled", "True Serving", digest("good 1")), module.NoCalls, "", 1)
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec("good 2") })
	tells(w.expect(t, "True Compiled", "True Serving", digest("good 2")), module.NoCalls, "no call was made yet since "+digest("good 2"), 0)
}
