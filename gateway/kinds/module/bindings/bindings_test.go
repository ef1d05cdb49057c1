package bindings

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/plugins"
)

// world is an engine with the check, and modules as the test says.
type world struct {
	*engine.Engine
	t       *testing.T
	modules map[string]plugins.Status
	refused map[string]string // why a module may not be bound to an object, by "MODULE HOOK OBJECT"
	warned  []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, modules: map[string]plugins.Status{}}
	w.Engine = realengine.With(t, func(*engine.Engine) admission.Chain {
		return admission.Chain{Validators: []admission.Validator{Bindings{
			Status: func(name string) (plugins.Status, bool) { s, ok := w.modules[name]; return s, ok },
			Distrusted: func(_ context.Context, ref module.Reference, by string) (string, error) {
				return w.refused[fmt.Sprintf("%s %s %s", ref.Module, ref.Hook, by)], nil
			},
		}}}
	}).Verbs
	return w
}

func (w *world) serve(name string, hooks ...plugins.Hook) {
	w.modules[name] = plugins.Status{Serving: &plugins.Revision{Digest: "d"}, Hooks: hooks}
}

func (w *world) target(gr schema.GroupResource, name string) resource.Target {
	r := w.Catalog().Snapshot().Resource(gr)
	return resource.Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion), Name: name}
}

func (w *world) options() resource.WriteOptions {
	w.warned = nil
	return resource.WriteOptions{Warn: func(text string) { // each once, as in a reply: a write may be tried again
		if !slices.Contains(w.warned, text) {
			w.warned = append(w.warned, text)
		}
	}}
}

// create creates an object with the urls, or the module, of its kind.
func (w *world) create(gr schema.GroupResource, name string, modules ...string) error {
	w.t.Helper()
	_, err := w.Create(w.t.Context(), w.target(gr, ""), []byte(manifest(gr, name, modules...)), w.options())
	return err
}

func (w *world) patch(gr schema.GroupResource, name, patch string) error {
	_, err := w.Patch(w.t.Context(), w.target(gr, name), types.MergePatchType, []byte(patch), w.options())
	return err
}

func manifest(gr schema.GroupResource, name string, modules ...string) string {
	switch gr {
	case gvr.Definitions:
		return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]s.example.com"},"spec":{
			"group":"example.com","scope":"Cluster","names":{"plural":%[1]q,"singular":%[1]q,"kind":"K%[1]s","listKind":"K%[1]sList"},
			"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"wasm://%[2]s"}}},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, name, modules[0])
	case gvr.Priorities:
		return fmt.Sprintf(`{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriority","metadata":{"name":%q},"spec":{"groups":["example.com"],"module":%q}}`, name, modules[0])
	}
	var hooks []string
	for i, m := range modules {
		hooks = append(hooks, fmt.Sprintf(`{"name":"h%d.example.com","clientConfig":{"url":%q},"sideEffects":"None","admissionReviewVersions":["v1"]}`, i, m))
	}
	kind := "ValidatingWebhookConfiguration"
	if gr == gvr.MutatingWebhooks {
		kind = "MutatingWebhookConfiguration"
	}
	return fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":%q,"metadata":{"name":%q},"webhooks":[%s]}`, kind, name, strings.Join(hooks, ","))
}

func (w *world) wants(what string, err error, refused string, warnings ...string) {
	w.t.Helper()
	if (err == nil) != (refused == "") || err != nil && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), refused)) {
		w.t.Errorf("%s: %v, want %q", what, err, refused)
	}
	if fmt.Sprintf("%q", w.warned) != fmt.Sprintf("%q", warnings) {
		w.t.Errorf("%s: warned %q, want %q", what, w.warned, warnings)
	}
}

func TestAModuleThatIsNotThereIsWarnedOf_WP01(t *testing.T) {
	w := newWorld(t)
	w.modules["loading"] = plugins.Status{}
	w.wants("a definition", w.create(gvr.Definitions, "a", "none"), "",
		`spec.conversion.webhook.clientConfig.url: there is no WasmModule "none"; until there is, objects cannot be converted`)
	w.wants("webhooks", w.create(gvr.ValidatingWebhooks, "a", "wasm://none", "https://none/", "wasm://loading"), "",
		`webhooks[0].clientConfig.url: there is no WasmModule "none"; until there is, the failurePolicy decides`,
		`webhooks[2].clientConfig.url: WasmModule "loading" is not ready; until it is, the failurePolicy decides`)
	w.wants("an order", w.create(gvr.Priorities, "a", "none"), "",
		`spec.module: there is no WasmModule "none"; until there is, the Kubernetes order is in force`)
}

func TestAModuleWithoutTheHookIsRefused_WP01_WP02_WP03(t *testing.T) {
	w := newWorld(t)
	w.serve("converts", plugins.Convert)
	w.serve("judges", plugins.Admit, plugins.Prioritize)
	w.wants("a definition", w.create(gvr.Definitions, "a", "judges"),
		`spec.conversion.webhook.clientConfig.url: Invalid value: "judges": the module does not have the hook wasmgate_convert; it has wasmgate_admit, wasmgate_prioritize`)
	w.wants("a mutating webhook", w.create(gvr.MutatingWebhooks, "a", "wasm://judges", "wasm://converts"),
		`MutatingWebhookConfiguration.admissionregistration.k8s.io "a" is invalid: webhooks[1].clientConfig.url: Invalid value: "converts": the module does not have the hook wasmgate_admit; it has wasmgate_convert`)
	w.wants("an order", w.create(gvr.Priorities, "a", "converts"), `spec.module: Invalid value: "converts": the module does not have the hook wasmgate_prioritize`)
	w.wants("what fits", w.create(gvr.Definitions, "a", "converts"), "")
	w.wants("what fits", w.create(gvr.ValidatingWebhooks, "a", "wasm://judges"), "")
	w.wants("what fits", w.create(gvr.Priorities, "a", "judges"), "")
}

// A module that may not serve is refused where it is bound, whatever else is known of it,
// and where it was bound before the object stays changeable.
func TestAModuleThatIsNotTrustedIsRefused(t *testing.T) {
	w := newWorld(t)
	w.serve("m", plugins.Convert)
	w.wants("bound before", w.create(gvr.Definitions, "was", "m"), "")
	w.refused = map[string]string{
		"m wasmgate_convert as.example.com": "Unsigned: sign it", "m wasmgate_convert was.example.com": "Unsigned: sign it",
		"none wasmgate_admit hooks": "Revoked: it is", "m wasmgate_prioritize order": "Unsigned: sign it",
	}
	w.wants("a definition", w.create(gvr.Definitions, "as", "m"), `"as.example.com" is invalid: spec.conversion.webhook.clientConfig.url: Invalid value: "m": Unsigned: sign it`)
	w.wants("another definition", w.create(gvr.Definitions, "bs", "m"), "")
	w.wants("webhooks", w.create(gvr.ValidatingWebhooks, "hooks", "https://x/", "wasm://none"), `webhooks[1].clientConfig.url: Invalid value: "none": Revoked: it is`)
	w.wants("an order", w.create(gvr.Priorities, "order", "m"), `spec.module: Invalid value: "m": Unsigned: sign it`)
	w.wants("what was bound before", w.patch(gvr.Definitions, "was.example.com", `{"metadata":{"labels":{"a":"b"}}}`), "")
}

func TestOnlyWhatIsNewIsChecked(t *testing.T) {
	w := newWorld(t)
	w.wants("created", w.create(gvr.Priorities, "a", "none"), "", `spec.module: there is no WasmModule "none"; until there is, the Kubernetes order is in force`)
	w.serve("none", plugins.Convert)
	w.wants("another change", w.patch(gvr.Priorities, "a", `{"spec":{"groups":["b.example.com"]}}`), "")
	w.wants("another module", w.patch(gvr.Priorities, "a", `{"spec":{"module":"other"}}`), "", `spec.module: there is no WasmModule "other"; until there is, the Kubernetes order is in force`)
	w.wants("back", w.patch(gvr.Priorities, "a", `{"spec":{"module":"none"}}`), "does not have the hook wasmgate_prioritize")
	if _, err := w.Delete(t.Context(), w.target(gvr.Priorities, "a"), &metav1.DeleteOptions{}, w.options()); err != nil || len(w.warned) != 0 {
		t.Errorf("deleted: %v, %q", err, w.warned)
	}
}

// A module that says what it converts is compared with what the definition needs,
// whenever that is written; one that does not say is left alone.
func TestADefinitionThatNeedsMoreIsWarnedOf_WP01(t *testing.T) {
	w := newWorld(t)
	w.serve("tabs", plugins.Convert)
	const second = `{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}`
	versions := func(more string) string {
		return `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}` + more + `]}}`
	}
	w.wants("it does not say", w.create(gvr.Definitions, "a", "tabs"), "")
	w.wants("it does not say", w.patch(gvr.Definitions, "a.example.com", versions(","+second)), "")
	w.says("tabs", plugins.Conversion{From: "v1", To: "v2"})
	lacks := `spec.conversion.webhook.clientConfig.url: WasmModule "tabs" does not convert v2 to v1, which this definition needs; until it does, objects cannot be read and written there`
	w.wants("another change", w.patch(gvr.Definitions, "a.example.com", `{"metadata":{"labels":{"a":"b"}}}`), "", lacks)
	w.wants("no need", w.patch(gvr.Definitions, "a.example.com", versions("")), "")
	w.wants("needed again", w.patch(gvr.Definitions, "a.example.com", versions(","+second)), "", lacks)
	w.says("tabs", plugins.Conversion{From: "v1", To: "v2"}, plugins.Conversion{From: "v2", To: "v1"})
	w.wants("it converts", w.patch(gvr.Definitions, "a.example.com", `{"metadata":{"labels":{"a":"c"}}}`), "")
	w.says("tabs", plugins.Conversion{Kind: "Other", From: "v1", To: "v2"})
	w.wants("another kind", w.patch(gvr.Definitions, "a.example.com", `{"metadata":{"labels":{"a":"d"}}}`), "", strings.Replace(lacks, "v2 to v1", "v1 to v2, v2 to v1", 1))
}

// says lets a module that serves say what it converts.
func (w *world) says(name string, conversions ...plugins.Conversion) {
	s := w.modules[name]
	s.Conversions = conversions
	w.modules[name] = s
}
