package load_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// enforcing is a spec with which nothing that is lost is let in.
func enforcing(bytes string, acknowledged ...any) map[string]any {
	spec := inlineSpec(bytes)
	spec["proof"], spec["acknowledgedLoss"] = "Enforce", acknowledged
	return spec
}

// bindCronTabs has CronTabs converted by the module.
func bindCronTabs(t *testing.T, w *moduleWorld) {
	t.Helper()
	tree := controllertest.CRDTree("crontabs", "CronTab", "v1", "v2")
	tree["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{"clientConfig": map[string]any{"url": "wasm://tabs"}}}
	controllertest.MustCreate(t, w.Objects, gvr.Definitions, tree)
}

// came writes into the status what came of the proof of the revision that is wanted.
func came(t *testing.T, w *moduleWorld, p module.Proved) {
	t.Helper()
	definition := controllertest.MustGet(t, w.Objects, gvr.Definitions, "", controllertest.CronTabsDefinition)
	controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		rev, unusable := module.Wanted(obj, w.content.Digest)
		if unusable != nil {
			t.Fatalf("%+v", unusable)
		}
		p.Revision, p.Definition, p.Inputs = module.RevisionName(*rev), definition.GetName(), module.ProofInputs(obj, definition)
		if changed, err := module.SetProofs(obj, []module.Proved{p}); err != nil || !changed {
			t.Errorf("%v, %v", changed, err)
		}
	})
}

// A revision through which fields would be lost does not serve where the module lets in
// no losses: neither the first one, nor one after another; it does once that is meant.
func TestARevisionThatLosesFieldsDoesNotServe(t *testing.T) {
	w := newModuleWorld()
	bindCronTabs(t, w) // before the module is there
	modules, stop := w.start(t)
	lossy := module.Proved{Lossless: metav1.ConditionFalse, Message: "Lost of spec.a, v1 to v2 and back"}
	createModule(t, w, enforcing("good 1"))
	w.expect(t, "Unknown AwaitingProof", "Unknown AwaitingProof", "")
	came(t, w, lossy)
	obj := w.expect(t, "False FieldsLost", "False FieldsLost", "")
	_, _, message := controllertest.Condition(obj, "Compiled")
	for _, want := range []string{"customresourcedefinitions/crontabs.example.com: Lost of spec.a, v1 to v2 and back", "spec.acknowledgedLoss"} {
		if !strings.Contains(message, want) {
			t.Errorf("it says %q, and not %q", message, want)
		}
	}
	if n := modules.setCalls(); n != 0 {
		t.Errorf("it was loaded %d times", n)
	}
	set := func(spec map[string]any) {
		changeModule(t, w, func(obj *unstructured.Unstructured) {
			obj.Object["spec"] = spec
			obj.SetGeneration(obj.GetGeneration() + 1)
		})
	}
	set(enforcing("good 1", "spec.a"))
	w.expect(t, "Unknown AwaitingProof", "Unknown AwaitingProof", "")
	came(t, w, module.Proved{Lossless: metav1.ConditionTrue, Tried: 9})
	w.expect(t, "True Compiled", "True Serving", digest("good 1"))

	set(enforcing("good 2", "spec.a"))
	w.expect(t, "Unknown AwaitingProof", "True PreviousRevision", digest("good 1"))
	came(t, w, lossy)
	w.expect(t, "False FieldsLost", "True PreviousRevision", digest("good 1"))
	stop()
	modules, _ = w.start(t)
	controllertest.Eventually(t, w.Objects, "what served does so again", func() bool {
		rev, ok := modules.get("tabs")
		return ok && string(rev.Bytes) == "good 1"
	})
	w.expect(t, "False FieldsLost", "True PreviousRevision", digest("good 1"))
	controllertest.MustChange(t, w.Objects, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
		obj.Object["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "None"}
	})
	w.expect(t, "True Compiled", "True Serving", digest("good 2")) // nothing converts with it
}

// What could not be proved serves in the end, and not while it is tried again.
func TestARevisionThatIsNotProvedServesInTheEnd(t *testing.T) {
	w := newModuleWorld()
	bindCronTabs(t, w)
	w.start(t)
	createModule(t, w, enforcing("good 1"))
	w.expect(t, "Unknown AwaitingProof", "Unknown AwaitingProof", "")
	came(t, w, module.Proved{Lossless: metav1.ConditionUnknown, Message: "the time is up", Attempts: 1, Last: metav1.Now()})
	controllertest.Eventually(t, w.Objects, "it says why it waits", func() bool {
		_, _, message := controllertest.Condition(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs"), "Compiled")
		return strings.Contains(message, "the time is up; it is tried again")
	})
	came(t, w, module.Proved{Lossless: metav1.ConditionUnknown, Message: "the time is up", Attempts: module.MaxAttempts, Last: metav1.Now()})
	w.expect(t, "True Compiled", "True Serving", digest("good 1"))
}

// Where losses are only told, nothing waits for a proof.
func TestARevisionServesWhereLossesAreOnlyTold(t *testing.T) {
	w := newModuleWorld()
	bindCronTabs(t, w)
	w.start(t)
	spec := inlineSpec("good 1")
	spec["proof"] = "Report"
	createModule(t, w, spec)
	came(t, w, module.Proved{Lossless: metav1.ConditionFalse, Message: "Lost of spec.a"})
	w.expect(t, "True Compiled", "True Serving", digest("good 1"))
}
