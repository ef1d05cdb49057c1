package module_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
	"github.com/wasmgate/wasmgate/gateway/controller/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// memoryModules accepts bytes and configurations that do not say "bad".
type memoryModules struct {
	mu      sync.Mutex
	serving map[string]plugins.Revision
	sets    int
	// transient, when above zero, is how many calls fail for no lasting reason.
	transient int
}

func (m *memoryModules) Set(_ context.Context, name string, rev plugins.Revision) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sets++
	if m.transient > 0 {
		m.transient--
		return errors.New("the disk is full")
	}
	switch bytes := string(rev.Bytes); {
	case strings.Contains(bytes, "bad"):
		return fmt.Errorf("load: %w", &plugins.LoadError{Module: name, Reason: plugins.MissingExport, Detail: "export wasmgate_alloc is missing"})
	case strings.Contains(bytes, "slow") && m.sets < 3:
		return &plugins.LoadError{Module: name, Reason: plugins.Slow, Detail: "it goes on"}
	case strings.Contains(bytes, "deadly") && rev.Attempt == "":
		return &plugins.LoadError{Module: name, Reason: plugins.Quarantined, Detail: "it ended the gateway"}
	case strings.Contains(string(rev.Config), "bad"):
		return &plugins.LoadError{Module: name, Reason: plugins.ConfigRefused, Detail: "no such region"}
	}
	if rev.Consent != nil {
		m.mu.Unlock() // which may ask what serves
		err := rev.Consent(hooksOf(rev))
		m.mu.Lock()
		if err != nil {
			return fmt.Errorf("take over: %w", err)
		}
	}
	m.serving[name] = rev
	return nil
}

// hooksOf are the hooks that bytes name, or that for conversions.
func hooksOf(rev plugins.Revision) (hooks []plugins.Hook) {
	for _, h := range plugins.Hooks() {
		if strings.Contains(string(rev.Bytes), string(h)) {
			hooks = append(hooks, h)
		}
	}
	if hooks == nil {
		hooks = []plugins.Hook{plugins.Convert}
	}
	return hooks
}

func (m *memoryModules) Status(name string) (plugins.Status, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rev, ok := m.serving[name]
	if !ok {
		return plugins.Status{}, false
	}
	return plugins.Status{Serving: &rev, Size: len(rev.Bytes), ABI: 1, Hooks: hooksOf(rev)}, true
}

func (m *memoryModules) Remove(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.serving, name)
}

func (m *memoryModules) get(name string) (plugins.Revision, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rev, ok := m.serving[name]
	return rev, ok
}

func (m *memoryModules) setCalls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sets
}

// memoryContent is a ModuleContent.
type memoryContent struct {
	mu    sync.Mutex
	blobs map[string][]byte
	// damaged makes every Get fail.
	damaged bool
	// full makes every Put fail.
	full bool
}

func (c *memoryContent) Get(_ context.Context, digest string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.damaged {
		return nil, module.ErrContentDamaged
	}
	bytes, ok := c.blobs[digest]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", digest, module.ErrNoContent)
	}
	return bytes, nil
}

func (c *memoryContent) Put(_ context.Context, bytes []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full {
		return fmt.Errorf("put: %w", module.ErrNoRoom)
	}
	c.blobs[c.Digest(bytes)] = bytes
	return nil
}

func (c *memoryContent) Digest(bytes []byte) string { return digest(string(bytes)) }

// moduleWorld is one gateway's view; start makes another gateway over the same
// objects and content.
type moduleWorld struct {
	*controllertest.Objects
	content *memoryContent
}

func newModuleWorld() *moduleWorld {
	return &moduleWorld{controllertest.New(), &memoryContent{blobs: map[string][]byte{}}}
}

func (w *moduleWorld) start(t *testing.T) (*memoryModules, func()) {
	t.Helper()
	m := &memoryModules{serving: map[string]plugins.Revision{}}
	return m, controllertest.Start(t, w.Objects, module.New(w.Objects, m, w.content))
}

func digest(bytes string) string {
	sum := sha256.Sum256([]byte(bytes))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func inlineSpec(bytes string) map[string]any {
	return map[string]any{"source": map[string]any{"inline": base64.StdEncoding.EncodeToString([]byte(bytes))}}
}

func createModule(t *testing.T, w *moduleWorld, spec map[string]any) {
	t.Helper()
	controllertest.MustCreate(t, w.Objects, kinds.Modules, map[string]any{
		"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": "tabs"}, "spec": spec,
	})
}

func changeModule(t *testing.T, w *moduleWorld, change func(obj *unstructured.Unstructured)) {
	t.Helper()
	controllertest.MustChange(t, w.Objects, kinds.Modules, "", "", "tabs", change)
}

// expect waits for "STATUS REASON" of both conditions and a serving digest.
func (w *moduleWorld) expect(t *testing.T, compiled, ready, servingDigest string) *unstructured.Unstructured {
	t.Helper()
	var obj *unstructured.Unstructured
	var got string
	defer func() {
		if t.Failed() {
			t.Logf("last seen: %s", got)
		}
	}()
	want := compiled + ", " + ready + ", " + servingDigest
	controllertest.Eventually(t, w.Objects, want, func() bool {
		obj = controllertest.MustGet(t, w.Objects, kinds.Modules, "", "tabs")
		c, cr, _ := controllertest.Condition(obj, "Compiled")
		r, rr, _ := controllertest.Condition(obj, "Ready")
		d, _, _ := unstructured.NestedString(obj.Object, "status", "digest")
		observed, _, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
		got = c + " " + cr + ", " + r + " " + rr + ", " + d
		return got == want && observed == obj.GetGeneration()
	})
	return obj
}

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
	if err := w.Delete(context.Background(), kinds.Modules, "", "tabs", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	controllertest.Eventually(t, w.Objects, "removed", func() bool { _, ok := modules.get("tabs"); return !ok })
}

func TestModule_upload(t *testing.T) {
	w := newModuleWorld()
	modules, _ := w.start(t)
	createModule(t, w, map[string]any{"source": map[string]any{"upload": map[string]any{}}})
	obj := w.expect(t, "False ContentMissing", "False ContentMissing", "")
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
	controllertest.MustCreate(t, w.Objects, kinds.Modules, map[string]any{
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
	controllertest.Eventually(t, w.Objects, "good revision back", func() bool {
		rev, ok := modules.get("tabs")
		return ok && string(rev.Bytes) == "good 1"
	})
	w.expect(t, "False MissingExport", "True PreviousRevision", digest("good 1"))

	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec("good 3") })
	obj = w.expect(t, "True Compiled", "True Serving", digest("good 3"))
	if note, ok := obj.GetAnnotations()[module.KeptAnnotation]; ok {
		t.Errorf("note left behind: %s", note)
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
		annotations := obj.GetAnnotations()
		annotations[module.RetryAnnotation] = "1"
		obj.SetAnnotations(annotations)
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
	controllertest.Start(t, w.Objects, module.New(w.Objects, broken, w.content))
	controllertest.Eventually(t, w.Objects, "both reported", func() bool { return w.Writes() >= 3 })
	for i := range 20 { // each change wakes both
		changeModule(t, w, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"i": fmt.Sprint(i)}) })
	}
	if n := w.Writes(); n > 30 {
		t.Errorf("%d writes", n)
	}
}

type brokenModules struct{}

func (brokenModules) Status(string) (plugins.Status, bool) { return plugins.Status{}, false }
func (brokenModules) Set(_ context.Context, name string, _ plugins.Revision) error {
	return &plugins.LoadError{Module: name, Reason: plugins.CompileFailed, Detail: "no room"}
}
func (brokenModules) Remove(string) {}

func TestModule_problemsOfTheSpec(t *testing.T) {
	for name, test := range map[string]struct {
		spec    map[string]any
		reason  string
		message string
	}{
		"no base64": {map[string]any{"source": map[string]any{"inline": "???"}}, "SourceInvalid", "spec.source.inline"},
		"two sources": {map[string]any{"source": map[string]any{"inline": "AA==", "upload": map[string]any{}}},
			"SourceInvalid", "exactly one"},
		"not pulled": {map[string]any{"source": map[string]any{"oci": map[string]any{"image": "localhost/tabs:v1"}}}, "ContentMissing", "localhost/tabs:v1 was not pulled yet; the condition Pulled says more"},
		"limits": {map[string]any{"source": map[string]any{"inline": "AA=="}, "limits": map[string]any{"memory": "lots", "timeout": "soon"}},
			"LimitsInvalid", `spec.limits.timeout: "soon"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newModuleWorld()
			w.start(t)
			createModule(t, w, test.spec)
			obj := w.expect(t, "False "+test.reason, "False "+test.reason, "")
			if _, _, message := controllertest.Condition(obj, "Compiled"); !strings.Contains(message, test.message) {
				t.Error(message)
			}
		})
	}
}

func TestParseLimits(t *testing.T) {
	for _, test := range []struct {
		limits map[string]any
		want   plugins.Limits
		errs   []string
	}{
		{limits: nil},
		{limits: map[string]any{"memory": "1.5Gi"}, want: plugins.Limits{MemoryBytes: 3 << 29}},
		{limits: map[string]any{"memory": int64(65536), "responseSize": "1k"}, want: plugins.Limits{MemoryBytes: 65536, ResponseBytes: 1000}},
		{limits: map[string]any{"fuel": float64(5), "timeout": "1m1s"}, want: plugins.Limits{Fuel: 5, Timeout: 61e9}},
		{limits: map[string]any{"memory": "0", "responseSize": "0.5", "timeout": "-1s", "fuel": 1.5},
			errs: []string{"limits.memory", "limits.responseSize", "limits.timeout", "limits.fuel"}},
		{limits: map[string]any{"memory": map[string]any{}}, errs: []string{"limits.memory"}},
		{limits: map[string]any{"memory": "99999999999999999999Gi"}, errs: []string{"limits.memory"}},
	} {
		got, err := module.ParseLimits(test.limits)
		if got != test.want {
			t.Errorf("%v: %+v", test.limits, got)
		}
		if (err != nil) != (len(test.errs) > 0) {
			t.Errorf("%v: %v", test.limits, err)
		}
		for _, want := range test.errs {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v lacks %q", test.limits, err, want)
			}
		}
	}
}

func TestWhatRefersToAModuleHoldsIt(t *testing.T) {
	o := controllertest.New()
	bind := func(plural, url string) {
		tree := controllertest.CRDTree(plural, plural, "v1")
		tree["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "Webhook",
			"webhook": map[string]any{"clientConfig": map[string]any{"url": url}}}
		controllertest.MustCreate(t, o, kinds.Definitions, tree)
	}
	named := func(name string) map[string]any { return map[string]any{"metadata": map[string]any{"name": name}} }
	webhooks := func(name string, urls ...string) map[string]any {
		var hooks []any
		for _, url := range urls {
			hooks = append(hooks, map[string]any{"clientConfig": map[string]any{"url": url}})
		}
		out := named(name)
		out["webhooks"] = hooks
		return out
	}
	bind("zebras", "wasm://tabs")
	bind("apples", "wasm://tabs")
	bind("others", "wasm://tabs2")
	bind("hooks", "https://tabs/")
	bind("odd", "wasm:tabs")
	controllertest.MustCreate(t, o, kinds.Definitions, controllertest.CRDTree("plain", "Plain", "v1"))
	controllertest.MustCreate(t, o, kinds.ValidatingWebhooks, webhooks("v", "https://tabs/", "wasm://tabs", "wasm://tabs"))
	controllertest.MustCreate(t, o, kinds.MutatingWebhooks, webhooks("m", "wasm://other", "wasm://tabs"))
	controllertest.MustCreate(t, o, kinds.MutatingWebhooks, webhooks("none"))
	order := named("p")
	order["spec"] = map[string]any{"module": "tabs"}
	controllertest.MustCreate(t, o, kinds.Priorities, order)

	names, err := module.ReferredBy(context.Background(), o, "tabs")
	want := "customresourcedefinitions/apples.example.com, customresourcedefinitions/zebras.example.com, mutatingwebhookconfigurations/m, validatingwebhookconfigurations/v, versionpriorities/p"
	if err != nil || strings.Join(names, ", ") != want {
		t.Errorf("%v, %v", names, err)
	}
	hooks := module.InUse{Objects: o}
	err = hooks.BeforeDelete(context.Background(), named("tabs"))
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "the module is in use by "+want+"; change or delete") {
		t.Errorf("delete of a module in use: %v", err)
	}
	for i := range 9 {
		bind(fmt.Sprintf("crowd%d", i), "wasm://crowded")
	}
	for i, want := range []string{"crowd8.example.com; change", "crowd9.example.com; change", "crowd8.example.com, customresourcedefinitions/crowd9.example.com, and 1 more; change"} {
		if i > 0 {
			bind([]string{"", "crowd9", "crowda"}[i], "wasm://crowded")
		}
		if err := hooks.BeforeDelete(context.Background(), named("crowded")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("delete of a module in use by %d: %v", 9+i, err)
		}
	}
	if err := hooks.BeforeDelete(context.Background(), named("unused")); err != nil || hooks.StillFinalizing(named("unused")) {
		t.Error(err)
	}
	o.Break(kinds.Definitions)
	if err := hooks.BeforeDelete(context.Background(), named("unused")); err == nil || !strings.Contains(err.Error(), "conversion of customresourcedefinitions.apiextensions.k8s.io failed") {
		t.Errorf("when nobody knows: %v", err)
	}
}

func TestReferencesSayWhereAndForWhat(t *testing.T) {
	tree := map[string]any{"webhooks": []any{map[string]any{}, map[string]any{"clientConfig": map[string]any{"url": "wasm://a"}}, "odd"}}
	refs := module.References(kinds.MutatingWebhooks, tree)
	if len(refs) != 1 || refs[0].Module != "a" || refs[0].Hook != plugins.Admit || refs[0].Path.String() != "webhooks[1].clientConfig.url" {
		t.Errorf("%+v", refs)
	}
	if !module.Refers(kinds.Definitions) || module.Refers(kinds.Modules) || module.References(kinds.Modules, tree) != nil {
		t.Error("modules refer to modules")
	}
	if refs := module.References(kinds.Priorities, map[string]any{"spec": map[string]any{}}); refs != nil {
		t.Errorf("%+v", refs)
	}
}
