package load_test

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
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
		c, rev, ok := module.CandidateOf(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs"), w.content.Digest)
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
	controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
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

	promotesTheCandidate(t, w, setSpec, candidate, second)
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

// promotesTheCandidate shows that a promotion is of one revision, which waited then.
func promotesTheCandidate(t *testing.T, w *moduleWorld, setSpec func(bytes string, more map[string]any), candidate func() module.Candidate, second module.Candidate) {
	t.Helper()
	setSpec("good 2", map[string]any{"config": map[string]any{"region": "eu"}}) // another revision: its report is not made yet
	controllertest.Eventually(t, w.Objects, "the candidate is another", func() bool {
		c, _, ok := module.CandidateOf(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs"), w.content.Digest)
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
	promote(second.Revision) // which waited another time
	controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		if err := module.SetReport(obj, module.Report{State: module.Completed, Conversions: 7}); err != nil {
			t.Error(err)
		}
	})
	w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 1"))
	if c := candidate(); c.Revision == second.Revision || c.Report == nil {
		t.Errorf("waiting again: %+v", c)
	}
	promote(candidate().Revision)
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
				if _, _, message := controllertest.Condition(obj, "Ready"); !strings.HasPrefix(message, "content "+digest("good 1")+", which was in use, cannot be loaded") {
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
				annotations[module.PromotedAnnotation] = c.Revision + "/force"
				obj.SetAnnotations(annotations)
			})
			w.expect(t, "True Compiled", "True Serving", digest("good 2"))
			if rev, _ := modules.get("tabs"); string(rev.Bytes) != "good 2" {
				t.Errorf("%q serves", rev.Bytes)
			}
		})
	}
}

// A promotion says what it accepts of the report, whoever makes it.
func TestModule_aPromotionAcceptsWhatItNames(t *testing.T) {
	clean := module.Report{State: module.Completed, Conversions: 7}
	differs := module.Report{State: module.Completed, Conversions: 7, Different: 3, Message: "conversions: 7, different: 3"}
	for name, c := range map[string]struct {
		report  *module.Report
		accepts string
		lacks   string // "" for nothing
	}{
		"clean":                      {&clean, "", ""},
		"clean, differences":         {&clean, "/differences=3", "with 3 differences accepted, but there are 0"},
		"not ended":                  {&module.Report{State: module.Running, Conversions: 7}, "", "comes into use when its trial has ended"},
		"no report":                  {nil, "", "comes into use when its trial has ended"},
		"no report, forced":          {nil, "/force", ""},
		"differs":                    {&differs, "", "its trial: conversions: 7, different: 3; it was promoted with 0 differences accepted, but there are 3"},
		"differs, accepted":          {&differs, "/differences=3", ""},
		"differs, fewer accepted":    {&differs, "/differences=2", "with 2 differences accepted"},
		"differs, forced":            {&differs, "/force", ""},
		"differs, something else":    {&differs, "/yes", "with 0 differences accepted"},
		"differs, no number":         {&differs, "/differences=all", "with 0 differences accepted"},
		"fails":                      {&module.Report{State: module.Completed, Conversions: 7, Failed: 1}, "", "its trial failed"},
		"fails, differences":         {&module.Report{State: module.Completed, Conversions: 7, Failed: 1, Different: 3}, "/differences=3", "its trial failed"},
		"stopped":                    {&module.Report{State: module.Stopped, Conversions: 7}, "", "its trial failed"},
		"cannot be loaded":           {&module.Report{State: module.Refused}, "", "its trial failed"},
		"fails, stopped, and forced": {&module.Report{State: module.Stopped, Failed: 3}, "/force", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newModuleWorld()
			w.start(t)
			spec := inlineSpec("good 1")
			spec["rollout"] = "Shadow"
			createModule(t, w, spec)
			w.expect(t, "True Compiled", "True Serving", digest("good 1"))
			push(t, w, "good 2")
			obj := w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 1"))
			candidate, _, _ := module.CandidateOf(obj, w.content.Digest)
			if c.report != nil {
				controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
					if err := module.SetReport(obj, *c.report); err != nil {
						t.Error(err)
					}
				})
			}
			changeModule(t, w, func(obj *unstructured.Unstructured) {
				obj.SetAnnotations(map[string]string{module.PromotedAnnotation: candidate.Revision + c.accepts})
			})
			if c.lacks == "" {
				w.expect(t, "True Compiled", "True Serving", digest("good 2"))
				return
			}
			controllertest.Eventually(t, w.Objects, c.lacks, func() bool {
				_, _, message := controllertest.Condition(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs"), "Compiled")
				return strings.Contains(message, c.lacks)
			})
			w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 1"))
		})
	}
}

// push asks for other content.
func push(t *testing.T, w *moduleWorld, bytes string) {
	t.Helper()
	changeModule(t, w, func(obj *unstructured.Unstructured) {
		obj.Object["spec"].(map[string]any)["source"] = inlineSpec(bytes)["source"]
		obj.SetGeneration(obj.GetGeneration() + 1)
	})
}

// A revision that was promoted once, and replaced since, waits again; one that was
// promoted and cannot be loaded stays what waits.
func TestModule_aPromotionIsSpent(t *testing.T) {
	w := newModuleWorld()
	_, stop := w.start(t)
	spec := inlineSpec("good 1")
	spec["rollout"] = "Shadow"
	createModule(t, w, spec)
	w.expect(t, "True Compiled", "True Serving", digest("good 1"))
	promote := func() {
		changeModule(t, w, func(obj *unstructured.Unstructured) {
			c, _, _ := module.CandidateOf(obj, w.content.Digest)
			obj.SetAnnotations(map[string]string{module.PromotedAnnotation: c.Revision + "/force"})
		})
	}
	rollout := func(how string) {
		changeModule(t, w, func(obj *unstructured.Unstructured) {
			obj.Object["spec"].(map[string]any)["rollout"] = how
			obj.SetGeneration(obj.GetGeneration() + 1)
		})
	}
	push(t, w, "good 2")
	w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 1"))
	promote()
	w.expect(t, "True Compiled", "True Serving", digest("good 2"))
	rollout("Immediate")
	push(t, w, "good 3")
	w.expect(t, "True Compiled", "True Serving", digest("good 3"))
	rollout("Shadow")
	for range 2 { // the second start has nothing but the object
		push(t, w, "good 2")
		w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 3"))
		push(t, w, "good 3")
		w.expect(t, "True Compiled", "True Serving", digest("good 3"))
		stop()
		_, stop = w.start(t)
	}

	push(t, w, "bad 4")
	w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 3"))
	promote()
	obj := w.expect(t, "False MissingExport", "True PreviousRevision", digest("good 3"))
	if c, _, ok := module.CandidateOf(obj, w.content.Digest); !ok || c.Digest != digest("bad 4") {
		t.Errorf("waiting: %+v, %v", c, ok)
	}
}

// What an earlier gateway wrote is understood, but for the image that it believed
// to have pulled.
func TestModule_whatAnEarlierGatewayWrote(t *testing.T) {
	create := func(w *moduleWorld, spec map[string]any, status map[string]any) {
		controllertest.MustCreate(t, w.Objects, gvr.Modules, map[string]any{
			"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": "tabs", "annotations": map[string]any{
				"wasmgate.dev/kept-revision":     `{"digest":"` + digest("good 1") + `","config":{"region":"eu"},"limits":{"MemoryBytes":7}}`,
				"wasmgate.dev/pulled-image":      `{"image":"r/tabs:v1","manifest":"sha256:m","digest":"` + digest("good 1") + `"}`,
				"wasmgate.dev/promoted-revision": "cafe",
			}}, "spec": spec, "status": status,
		})
	}
	status := func() map[string]any {
		return map[string]any{"digest": digest("good 1"), "revisions": []any{map[string]any{"digest": digest("good 1"), "size": int64(6), "since": "2026-01-01T00:00:00Z"}}}
	}
	t.Run("a promoted revision", func(t *testing.T) {
		w := newModuleWorld()
		w.content.blobs[digest("good 1")] = []byte("good 1")
		spec := inlineSpec("good 2")
		spec["rollout"] = "Shadow"
		create(w, spec, status())
		modules, _ := w.start(t)
		w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 1"))
		if rev, _ := modules.get("tabs"); string(rev.Config) != `{"region":"eu"}` || rev.Limits.MemoryBytes != 7 {
			t.Errorf("%+v serves", rev)
		}
	})
	t.Run("how another content was configured", func(t *testing.T) {
		w := newModuleWorld()
		w.content.blobs[digest("good 2")] = []byte("good 2")
		spec := inlineSpec("good 3")
		spec["rollout"], spec["config"] = "Shadow", "us"
		create(w, spec, map[string]any{"digest": digest("good 2")})
		modules, _ := w.start(t)
		w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 2"))
		if rev, _ := modules.get("tabs"); string(rev.Config) != `"us"` || rev.Limits.MemoryBytes != 0 {
			t.Errorf("%+v serves, configured as another content was", rev)
		}
	})
	t.Run("an image", func(t *testing.T) {
		w := newModuleWorld()
		w.content.blobs[digest("good 1")] = []byte("good 1")
		spec := map[string]any{"source": map[string]any{"oci": map[string]any{"image": "r/tabs:v1"}}, "rollout": "Shadow"}
		create(w, spec, status())
		modules, _ := w.start(t)
		w.expect(t, "Unknown ContentMissing", "Unknown ContentMissing", digest("good 1"))
		if rev, ok := modules.get("tabs"); ok {
			t.Errorf("%q serves, which was not pulled", rev.Bytes)
		}
		pulled := func(text string) {
			w.content.mu.Lock()
			w.content.blobs[digest(text)] = []byte(text)
			w.content.mu.Unlock()
			controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
				if err := module.SetPulled(obj, module.PulledImage{Image: "r/tabs:v1", Manifest: "sha256:m", Digest: digest(text)}); err != nil {
					t.Error(err)
				}
			})
		}
		pulled("good 2") // which is another one by now
		w.expect(t, "False AwaitingPromotion", "False AwaitingPromotion", digest("good 1"))
		pulled("good 1")
		w.expect(t, "False AwaitingPromotion", "True PreviousRevision", digest("good 1"))
	})
}
