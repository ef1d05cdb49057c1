package coverage_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/coverage"
)

// world has definitions, and a module that says what it converts.
type world struct{ *controllertest.Objects }

func (w world) define(t *testing.T, name, converter string, versions ...string) {
	t.Helper()
	var all []any
	for i, v := range versions {
		all = append(all, map[string]any{"name": v, "served": true, "storage": i == 0})
	}
	controllertest.MustCreate(t, w.Objects, gvr.Definitions, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"names": map[string]any{"kind": "K"}, "versions": all,
			"conversion": map[string]any{"webhook": map[string]any{"clientConfig": map[string]any{"url": "wasm://" + converter}}}},
	})
}

// converts lets the module say that, each as FROM-TO; nothing at all for none.
func (w world) converts(t *testing.T, pairs ...string) {
	t.Helper()
	controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		var all []any
		for _, p := range pairs {
			from, to, _ := strings.Cut(p, "-")
			all = append(all, map[string]any{"from": from, "to": to})
		}
		if all == nil {
			unstructured.RemoveNestedField(obj.Object, "status", "conversions")
		} else if err := unstructured.SetNestedSlice(obj.Object, all, "status", "conversions"); err != nil {
			t.Error(err)
		}
	})
}

func (w world) expect(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	obj := controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")
	status, reason, message := controllertest.Condition(obj, module.ConversionsComplete)
	if got := strings.TrimSpace(fmt.Sprintf("%s %s %s", status, reason, message)); got != want {
		t.Errorf("the condition is %q, want %q", got, want)
	}
}

// What a module lacks is said when it begins to lack it, and that it does not any
// more; for what a gateway did not see either.
func TestWhatAModuleLacksIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world{controllertest.New()}
		controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
		w.define(t, "a.example.com", "tabs", "v1", "v2")
		stop := controllertest.Start(t, w.Objects, coverage.New(w.Objects))
		w.expect(t, "") // it says nothing
		w.converts(t, "v1-v2", "v2-v1")
		w.expect(t, "") // nothing is missing
		const lacks, more, said = "False ConversionMissing customresourcedefinitions/a.example.com needs v2 to v1",
			"; customresourcedefinitions/b.example.com needs v3 to v1, v3 to v2, v1 to v3, v2 to v3", "; the module does not say that it converts that"
		const all = "True Complete it converts all that definitions need"
		w.converts(t, "v1-v2")
		w.expect(t, lacks+said)
		w.define(t, "b.example.com", "tabs", "v3", "v1", "v2")
		w.expect(t, lacks+more+said)
		if err := w.Delete(t.Context(), gvr.Definitions, "", "b.example.com", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		controllertest.RemoveFinalizer(t, w.Objects, gvr.Definitions, "", "b.example.com", "customresourcecleanup.apiextensions.k8s.io")
		w.expect(t, lacks+said)
		stop()
		stop = controllertest.Start(t, w.Objects, coverage.New(w.Objects))
		defer func() { stop() }()
		w.expect(t, lacks+said)
		controllertest.MustChange(t, w.Objects, gvr.Definitions, "", "", "a.example.com", func(obj *unstructured.Unstructured) {
			obj.Object["spec"].(map[string]any)["conversion"] = map[string]any{"webhook": map[string]any{"clientConfig": map[string]any{"url": "wasm://other"}}}
		})
		w.expect(t, all)
		w.define(t, "c.example.com", "tabs", "v1", "v2")
		w.expect(t, strings.Replace(lacks, "a.example", "c.example", 1)+said)
		w.converts(t)
		w.expect(t, all) // it does not say, and nobody knows better
	})
}
