package module_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

func TestWhatRefersToAModuleHoldsIt(t *testing.T) {
	o := controllertest.New()
	bind := func(plural, url string) {
		tree := controllertest.CRDTree(plural, plural, "v1")
		tree["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "Webhook",
			"webhook": map[string]any{"clientConfig": map[string]any{"url": url}}}
		controllertest.MustCreate(t, o, gvr.Definitions, tree)
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
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("plain", "Plain", "v1"))
	controllertest.MustCreate(t, o, gvr.ValidatingWebhooks, webhooks("v", "https://tabs/", "wasm://tabs", "wasm://tabs"))
	controllertest.MustCreate(t, o, gvr.MutatingWebhooks, webhooks("m", "wasm://other", "wasm://tabs"))
	controllertest.MustCreate(t, o, gvr.MutatingWebhooks, webhooks("none"))
	order := named("p")
	order["spec"] = map[string]any{"module": "tabs"}
	controllertest.MustCreate(t, o, gvr.Priorities, order)

	names, err := module.ReferredBy(context.Background(), o, "tabs")
	want := "customresourcedefinitions/apples.example.com, customresourcedefinitions/zebras.example.com, mutatingwebhookconfigurations/m, validatingwebhookconfigurations/v, versionpriorities/p"
	if err != nil || strings.Join(names, ", ") != want {
		t.Errorf("%v, %v", names, err)
	}
	hooks := module.InUse{}
	err = hooks.BeforeDelete(context.Background(), o, named("tabs"))
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
		if err := hooks.BeforeDelete(context.Background(), o, named("crowded")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("delete of a module in use by %d: %v", 9+i, err)
		}
	}
	if err := hooks.BeforeDelete(context.Background(), o, named("unused")); err != nil || hooks.StillFinalizing(named("unused")) {
		t.Error(err)
	}
	o.Break(gvr.Definitions)
	if err := hooks.BeforeDelete(context.Background(), o, named("unused")); err == nil || !strings.Contains(err.Error(), "conversion of customresourcedefinitions.apiextensions.k8s.io failed") {
		t.Errorf("when nobody knows: %v", err)
	}
}

func TestReferencesSayWhereAndForWhat(t *testing.T) {
	tree := map[string]any{"webhooks": []any{map[string]any{}, map[string]any{"clientConfig": map[string]any{"url": "wasm://a"}}, "odd"}}
	refs := module.References(gvr.MutatingWebhooks, tree)
	if len(refs) != 1 || refs[0].Module != "a" || refs[0].Hook != plugins.Admit || refs[0].Path.String() != "webhooks[1].clientConfig.url" {
		t.Errorf("%+v", refs)
	}
	if !module.Refers(gvr.Definitions) || module.Refers(gvr.Modules) || module.References(gvr.Modules, tree) != nil {
		t.Error("modules refer to modules")
	}
	if refs := module.References(gvr.Priorities, map[string]any{"spec": map[string]any{}}); refs != nil {
		t.Errorf("%+v", refs)
	}
}
