package load_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
)

func TestModule_inline(t *testing.T) {
	w := newModuleWorld()
	modules, _ := w.start(t)
	spec := inlineSpec("good 1")
	spec["config"] = map[string]any{"region": "eu"}
	spec["limits"] = map[string]any{"memory": "16Mi", "timeout": "250ms", "fuel": int64(7), "responseSize": int64(1024)}
	createModule(t, w, spec)
	obj := w.expect(t, "True Compiled", "True Serving", digest("good 1"))
	status := obj.Object["status"].(map[string]any)
	if status["size"] != int64(6) || status["abi"] != int64(1) || fmt.Sprint(status["hooks"]) != "[wasmgate_convert]" {
		t.Errorf("status %v", status)
	}
	rev, _ := modules.get("tabs")
	if string(rev.Config) != `{"region":"eu"}` || rev.Limits != (plugins.Limits{MemoryBytes: 16 << 20, Timeout: 250e6, Fuel: 7, ResponseBytes: 1024}) {
		t.Errorf("revision %+v", rev)
	}
	if err := w.Delete(context.Background(), gvr.Modules, "", "tabs", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	controllertest.Eventually(t, w.Objects, "removed", func() bool { _, ok := modules.get("tabs"); return !ok })
}

func TestModule_upload(t *testing.T) {
	w := newModuleWorld()
	modules, _ := w.start(t)
	createModule(t, w, map[string]any{"source": map[string]any{"upload": map[string]any{}}})
	obj := w.expect(t, "Unknown ContentMissing", "Unknown ContentMissing", "")
	if _, _, message := controllertest.Condition(obj, "Compiled"); message != "upload it with: wasmgate module push tabs file.wasm" {
		t.Error(message)
	}
	if err := w.content.Put(context.Background(), []byte("good")); err != nil {
		t.Fatal(err)
	}
	changeModule(t, w, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{module.ContentAnnotation: digest("good")})
	})
	w.expect(t, "True Compiled", "True Serving", digest("good"))
	if rev, _ := modules.get("tabs"); string(rev.Bytes) != "good" {
		t.Errorf("serves %q", rev.Bytes)
	}
}

func TestModule_damagedContentIsReported(t *testing.T) {
	w := newModuleWorld()
	w.start(t)
	w.content.damaged = true
	controllertest.MustCreate(t, w.Objects, gvr.Modules, map[string]any{
		"metadata": map[string]any{"name": "tabs", "annotations": map[string]any{module.ContentAnnotation: digest("good")}},
		"spec":     map[string]any{"source": map[string]any{"upload": map[string]any{}}},
	})
	w.expect(t, "False ContentDamaged", "False ContentDamaged", "")
}

func TestModule_aBadRevisionLeavesTheGoodOneServing(t *testing.T) {
	w := newModuleWorld()
	modules, stop := w.start(t)
	createModule(t, w, inlineSpec("good 1"))
	w.expect(t, "True Compiled", "True Serving", digest("good 1"))
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec("bad 2") })
	obj := w.expect(t, "False MissingExport", "True PreviousRevision", digest("good 1"))
	if _, _, message := controllertest.Condition(obj, "Compiled"); message != "export wasmgate_alloc is missing" {
		t.Error(message)
	}
	if _, _, message := controllertest.Condition(obj, "Ready"); !strings.Contains(message, digest("good 1")+" keeps serving") {
		t.Error(message)
	}
	if rev, _ := modules.get("tabs"); string(rev.Bytes) != "good 1" {
		t.Errorf("serves %q", rev.Bytes)
	}
	calls := modules.setCalls()
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })

	// After a restart the good one is loaded again, from the content store.
	stop()
	if now := modules.setCalls(); now > calls {
		t.Errorf("the bad revision was compiled again, %d times", now-calls)
	}
	modules, _ = w.start(t)
	controllertest.Eventually(t, w.Objects, "both are tried", func() bool { return modules.setCalls() == 2 })
	if got := modules.triedInOrder(); got != "good 1, bad 2" {
		t.Errorf("loaded in this order: %s", got)
	}
	if rev, _ := modules.get("tabs"); string(rev.Bytes) != "good 1" {
		t.Errorf("serves %q", rev.Bytes)
	}
	w.expect(t, "False MissingExport", "True PreviousRevision", digest("good 1"))

	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec("good 3") })
	obj = w.expect(t, "True Compiled", "True Serving", digest("good 3"))
	if kept, found, _ := unstructured.NestedMap(obj.Object, "status", "keptConfiguration"); found {
		t.Errorf("note left behind: %v", kept)
	}
}

func TestModule_aBadConfigLeavesTheGoodOneServing(t *testing.T) {
	w := newModuleWorld()
	_, stop := w.start(t)
	spec := func(region string) map[string]any {
		s := inlineSpec("good")
		s["config"] = region
		return s
	}
	createModule(t, w, spec("eu"))
	w.expect(t, "True Compiled", "True Serving", digest("good"))
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = spec("bad") })
	w.expect(t, "False ConfigRefused", "True PreviousRevision", digest("good"))
	stop()

	modules, _ := w.start(t)
	controllertest.Eventually(t, w.Objects, "good configuration back", func() bool {
		rev, ok := modules.get("tabs")
		return ok && string(rev.Config) == `"eu"`
	})
	w.expect(t, "False ConfigRefused", "True PreviousRevision", digest("good"))
}

func TestModule_transientFailureIsRetried(t *testing.T) {
	w := newModuleWorld()
	modules, _ := w.start(t)
	modules.mu.Lock()
	modules.transient = 3
	modules.mu.Unlock()
	createModule(t, w, inlineSpec("good"))
	w.expect(t, "True Compiled", "True Serving", digest("good"))
}

// While it fails, the status says so.
func TestModule_transientFailureIsTold(t *testing.T) {
	w := newModuleWorld()
	modules, _ := w.start(t)
	modules.mu.Lock()
	modules.transient = 1 << 30
	modules.mu.Unlock()
	createModule(t, w, inlineSpec("good"))
	obj := w.expect(t, "False LoadFailed", "False LoadFailed", "")
	if _, _, message := controllertest.Condition(obj, "Compiled"); message != "the disk is full" {
		t.Errorf("it says %q", message)
	}
	modules.mu.Lock()
	modules.transient = 0
	modules.mu.Unlock()
	w.expect(t, "True Compiled", "True Serving", digest("good"))
}

// A newer revision that came while this gateway was away is loaded after the one
// that served.
func TestModule_whatServedServesFirst(t *testing.T) {
	w := newModuleWorld()
	_, stop := w.start(t)
	createModule(t, w, inlineSpec("good 1"))
	w.expect(t, "True Compiled", "True Serving", digest("good 1"))
	stop()
	modules, stop := w.start(t)
	w.expect(t, "True Compiled", "True Serving", digest("good 1"))
	controllertest.Eventually(t, w.Objects, "it serves", func() bool { _, ok := modules.get("tabs"); return ok })
	stop()
	if got := modules.triedInOrder(); got != "good 1" {
		t.Errorf("what is wanted and served is loaded once: %s", got)
	}
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec("good 2") })
	modules, _ = w.start(t)
	w.expect(t, "True Compiled", "True Serving", digest("good 2"))
	if got := modules.triedInOrder(); got != "good 1, good 2" {
		t.Errorf("loaded in this order: %s", got)
	}
}

// Whoever is refused for what the compiler takes is told what to do.
func TestModule_whatIsTooCostlyToCompile(t *testing.T) {
	w := newModuleWorld()
	w.start(t)
	createModule(t, w, inlineSpec("bomb"))
	obj := w.expect(t, "False CompileMemory", "False CompileMemory", "")
	if _, _, message := controllertest.Condition(obj, "Compiled"); !strings.HasPrefix(message,
		"it takes more; give it other content, or start every gateway with a larger --module-compile-memory; to try the same again: kubectl annotate wasmmodule tabs --overwrite wasmgate.dev/retry=") {
		t.Error(message)
	}
}

// How the revision that served was configured is not forgotten while that cannot
// be loaded.
func TestModule_aGoodConfigurationSurvivesFailures(t *testing.T) {
	w := newModuleWorld()
	_, stop := w.start(t)
	spec := func(region string) map[string]any {
		s := inlineSpec("deadly")
		s["config"] = region
		return s
	}
	retry := func(attempt string) {
		changeModule(t, w, func(obj *unstructured.Unstructured) {
			annotations := obj.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[module.RetryAnnotation] = attempt
			obj.SetAnnotations(annotations)
		})
	}
	createModule(t, w, spec("eu"))
	w.expect(t, "False Quarantined", "False Quarantined", "")
	retry("1")
	w.expect(t, "True Compiled", "True Serving", digest("deadly"))
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = spec("bad") })
	w.expect(t, "False ConfigRefused", "True PreviousRevision", digest("deadly"))
	stop()
	retry("")
	_, stop = w.start(t)
	w.expect(t, "False Quarantined", "False Quarantined", digest("deadly"))
	stop()
	retry("2")
	modules, _ := w.start(t)
	w.expect(t, "False ConfigRefused", "True PreviousRevision", digest("deadly"))
	if rev, _ := modules.get("tabs"); string(rev.Config) != `"eu"` {
		t.Errorf("serves with %s", rev.Config)
	}
}

// What is too slow is tried again by itself, and what ended the gateway when
// it is told to.
func TestModule_whatIsHeldBackIsTriedAgain(t *testing.T) {
	w := newModuleWorld()
	modules, stop := w.start(t)
	createModule(t, w, inlineSpec("slow"))
	w.expect(t, "True Compiled", "True Serving", digest("slow"))
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec("deadly") })
	obj := w.expect(t, "False Quarantined", "True PreviousRevision", digest("slow"))
	if _, _, message := controllertest.Condition(obj, "Compiled"); !strings.Contains(message, "it ended the gateway; ") ||
		!strings.Contains(message, "kubectl annotate wasmmodule tabs --overwrite wasmgate.dev/retry=") {
		t.Error(message)
	}
	retry := func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{module.RetryAnnotation: "1"})
	}
	changeModule(t, w, retry)
	w.expect(t, "True Compiled", "True Serving", digest("deadly"))
	if rev, _ := modules.get("tabs"); rev.Attempt != "1" {
		t.Errorf("revision %+v", rev)
	}
	stop()

	// A digest that is held back is not forgotten.
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.SetAnnotations(nil) })
	w.start(t)
	w.expect(t, "False Quarantined", "False Quarantined", digest("deadly"))
}

// Two gateways that disagree report once each and then keep quiet.
func TestModule_gatewaysThatDisagreeDoNotFight(t *testing.T) {
	w := newModuleWorld()
	createModule(t, w, inlineSpec("good"))
	w.start(t)
	broken := &brokenModules{}
	controllertest.Start(t, w.Objects, load.New(w.Objects, broken, w.content, trust.New(w.Objects)))
	controllertest.Eventually(t, w.Objects, "both reported", func() bool { return w.Writes() >= 3 })
	for i := range 20 { // each change wakes both
		changeModule(t, w, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"i": fmt.Sprint(i)}) })
	}
	if n := w.Writes(); n > 30 {
		t.Errorf("%d writes", n)
	}
}
