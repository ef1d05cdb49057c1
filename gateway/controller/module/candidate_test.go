package module_test

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
	"github.com/wasmgate/wasmgate/gateway/controller/module"
)

// A new revision of a module that wants to try it first waits, across a restart,
// with the report that was made of it, until it is promoted.
func TestModule_candidateWaits(t *testing.T) {
	w := newModuleWorld()
	modules, stop := w.start(t)
	setSpec := func(bytes string, more map[string]any) {
		changeModule(t, w, func(obj *unstructured.Unstructured) {
			spec := inlineSpec(bytes)
			spec["rollout"] = "Shadow"
			maps.Copy(spec, more)
			obj.Object["spec"] = spec
			obj.SetGeneration(obj.GetGeneration() + 1)
		})
	}
	candidate := func() module.Candidate {
		t.Helper()
		c, rev, ok := module.CandidateOf(controllertest.MustGet(t, w.Objects, kinds.Modules, "", "tabs"), w.content.Digest)
		if !ok || rev.Digest != c.Digest {
			t.Fatalf("%+v of %s, %v", c, rev.Digest, ok)
		}
		return c
	}
	spec := inlineSpec("good 1")
	spec["rollout"] = "Shadow"
	createModule(t, w, spec)
	w.expect(t, "True Compiled", "True Serving", digest("good 1")) // the first has nothing to be compared with

	setSpec("good 2", nil)
	obj := w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 1"))
	want := "the newest revision does not serve (AwaitingPromotion); " + digest("good 1") + " keeps serving"
	if _, _, message := controllertest.Condition(obj, "Ready"); message != want {
		t.Errorf("what waits was not refused: %s", message)
	}
	second := candidate()
	if second.Digest != digest("good 2") || second.Report != nil {
		t.Errorf("waiting: %+v", second)
	}
	if rev, _ := modules.get("tabs"); string(rev.Bytes) != "good 1" {
		t.Errorf("%q serves", rev.Bytes)
	}
	controllertest.MustChange(t, w.Objects, kinds.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		if err := module.SetReport(obj, module.Report{State: module.Completed, Conversions: 7}); err != nil {
			t.Error(err)
		}
	})

	stop()
	modules, _ = w.start(t)
	controllertest.Eventually(t, w.Objects, "the last good revision serves again", func() bool {
		rev, ok := modules.get("tabs")
		return ok && string(rev.Bytes) == "good 1"
	})
	if c := candidate(); c.Revision != second.Revision || c.Report == nil || c.Report.Conversions != 7 {
		t.Errorf("after the restart: %+v", c)
	}

	setSpec("good 2", map[string]any{"config": map[string]any{"region": "eu"}}) // another revision: its report is not made yet
	controllertest.Eventually(t, w.Objects, "the candidate is another", func() bool {
		c, _, ok := module.CandidateOf(controllertest.MustGet(t, w.Objects, kinds.Modules, "", "tabs"), w.content.Digest)
		return ok && c.Revision != second.Revision && c.Report == nil
	})
	setSpec("good 2", nil)
	promote := func(revision string) {
		changeModule(t, w, func(obj *unstructured.Unstructured) {
			annotations := obj.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[module.PromotedAnnotation] = revision
			obj.SetAnnotations(annotations)
		})
	}
	promote("another")
	w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 1"))
	promote(second.Revision)
	obj = w.expect(t, "True Compiled", "True Serving", digest("good 2"))
	if _, found, _ := unstructured.NestedMap(obj.Object, "status", "candidate"); found {
		t.Error("what serves waits no more")
	}

	changeModule(t, w, func(obj *unstructured.Unstructured) {
		spec := inlineSpec("good 3")
		obj.Object["spec"] = spec
		obj.SetGeneration(obj.GetGeneration() + 1)
	})
	w.expect(t, "True Compiled", "True Serving", digest("good 3")) // without the rollout nothing waits
}

// What waits is told from what served also by a gateway that was not there when
// it was asked for, and however large the configuration is.
func TestModule_aConfigurationWaitsForPromotionAfterARestart(t *testing.T) {
	for name, region := range map[string]string{"small": "eu", "large": strings.Repeat("e", 60<<10)} {
		t.Run(name, func(t *testing.T) {
			w := newModuleWorld()
			_, stop := w.start(t)
			spec := inlineSpec("good 1")
			spec["rollout"], spec["config"] = "Shadow", map[string]any{"region": region}
			createModule(t, w, spec)
			w.expect(t, "True Compiled", "True Serving", digest("good 1"))
			stop()
			changeModule(t, w, func(obj *unstructured.Unstructured) {
				obj.Object["spec"].(map[string]any)["config"] = map[string]any{"region": "other"}
				obj.SetGeneration(obj.GetGeneration() + 1)
			})
			modules, _ := w.start(t)
			w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 1"))
			if rev, _ := modules.get("tabs"); !strings.Contains(string(rev.Config), region) {
				t.Errorf("%.40s serves, which nobody promoted", rev.Config)
			}
		})
	}
}

// Where revisions are promoted, nothing takes the place of what served by itself:
// not when its content is lost, and not when it is refused after a restart.
func TestModule_aCandidateDoesNotServeForWhatIsLost(t *testing.T) {
	for name, lose := range map[string]func(c *memoryContent){
		"lost":    func(c *memoryContent) { delete(c.blobs, digest("good 1")) },
		"refused": func(c *memoryContent) { c.blobs[digest("good 1")] = []byte("bad") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newModuleWorld()
			_, stop := w.start(t)
			spec := inlineSpec("good 1")
			spec["rollout"] = "Shadow"
			createModule(t, w, spec)
			w.expect(t, "True Compiled", "True Serving", digest("good 1"))
			stop()
			changeModule(t, w, func(obj *unstructured.Unstructured) {
				obj.Object["spec"].(map[string]any)["source"] = inlineSpec("good 2")["source"]
				obj.SetGeneration(obj.GetGeneration() + 1)
			})
			w.content.mu.Lock()
			lose(w.content)
			w.content.mu.Unlock()
			left := digest("good 1")
			if name == "refused" {
				left = ""
			}
			for range 2 { // the second start sees what the first one wrote
				modules, stop := w.start(t)
				obj := w.expect(t, "False AwaitingPromotion", "False AwaitingPromotion", left)
				if _, _, message := controllertest.Condition(obj, "Ready"); !strings.HasPrefix(message, "content "+digest("good 1")+", which served, cannot be loaded") {
					t.Error(message)
				}
				changeModule(t, w, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"look": "again"}) })
				stop()
				if rev, ok := modules.get("tabs"); ok {
					t.Errorf("%q serves, which nobody promoted", rev.Bytes)
				}
			}
			modules, _ := w.start(t)
			if name == "lost" { // it comes back
				w.content.mu.Lock()
				w.content.blobs[digest("good 1")] = []byte("good 1")
				w.content.mu.Unlock()
				changeModule(t, w, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"look": "once more"}) })
				w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 1"))
			}
			changeModule(t, w, func(obj *unstructured.Unstructured) {
				c, _, _ := module.CandidateOf(obj, w.content.Digest)
				annotations := obj.GetAnnotations()
				if annotations == nil {
					annotations = map[string]string{}
				}
				annotations[module.PromotedAnnotation] = c.Revision
				obj.SetAnnotations(annotations)
			})
			w.expect(t, "True Compiled", "True Serving", digest("good 2"))
			if rev, _ := modules.get("tabs"); string(rev.Bytes) != "good 2" {
				t.Errorf("%q serves", rev.Bytes)
			}
		})
	}
}
