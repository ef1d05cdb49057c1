package guards_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
)

// forPlugin is a world of one of the plugins, with the configuration that it has.
func forPlugin(t testing.TB, plugin string) *world {
	t.Helper()
	switch {
	case plugin == guards.Modules:
		return newWorld(t, plugin, "WasmModuleConfiguration", "wasmgate.dev/v1")
	case strings.HasSuffix(plugin, "Webhook"):
		return newWorld(t, plugin, "WebhookAdmissionConfiguration", "apiserver.config.k8s.io/v1")
	}
	return newWorld(t, plugin, plugin+"Configuration", "apiserver.config.k8s.io/v1")
}

// document is an object of admissionregistration.k8s.io/v1, named NAME.static.k8s.io.
func document(kind, name, rest string) string {
	return "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: " + name + ".static.k8s.io}\n" + rest + "\n---\n"
}

const (
	matches  = `matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}`
	checks   = `, validations: [{expression: "true"}]`
	settings = "apiVersion: example.com/v1\nkind: Setting\nmetadata: {name: one}\n---\n"
	boundBy  = "spec: {policyName: p.static.k8s.io, validationActions: [Deny]}"
	asking   = "spec: {paramKind: {apiVersion: example.com/v1, kind: Setting}, " + matches + checks + "}"
	hookRest = "admissionReviewVersions: [v1], sideEffects: None"
)

// A folder is refused as a whole for its first mistake, which is told with the file.
func TestFoldersThatCannotBeUsed(t *testing.T) {
	policy := document("ValidatingAdmissionPolicy", "p", "spec: {"+matches+checks+"}")
	hook := func(client string) string {
		return document("ValidatingWebhookConfiguration", "c", "webhooks: [{name: a.example.com, "+hookRest+", clientConfig: "+client+"}]")
	}
	for _, c := range []struct{ plugin, text, want string }{
		{"ValidatingAdmissionPolicy", "[]", "error loading FILE: "},
		{"ValidatingAdmissionPolicy", "a: 1\na: 2", "error loading FILE: "},
		{"ValidatingAdmissionPolicy", "apiVersion: v1\nkind: List\nitems: 1", "error loading FILE: .items accessor error"},
		{"ValidatingAdmissionPolicy", "apiVersion: v1\nkind: List\nitems: [1]", "error loading FILE: an item of a list is no object"},
		{"ValidatingAdmissionPolicy", "{apiVersion: v1, kind: List, items: [{apiVersion: admissionregistration.k8s.io/v1, kind: Odd}]}", "unsupported resource type admissionregistration.k8s.io/v1, Kind=Odd"},
		{"ValidatingAdmissionPolicy", "{apiVersion: v2, kind: List, metadata: {name: A}}", `a parameter needs a name of its own, not "A"`},
		{"ValidatingAdmissionPolicy", "{apiVersion: v1, metadata: {name: a}}", "unsupported resource type /v1, Kind="},
		{"ValidatingAdmissionPolicy", strings.Replace(policy, "io/v1", "io/v1beta1", 1), "unsupported resource type admissionregistration.k8s.io/v1beta1, Kind=ValidatingAdmissionPolicy"},
		{"ValidatingAdmissionPolicy", policy + settings + settings, `a parameter needs a name of its own, not "one"`},
		{"ValidatingAdmissionPolicy", policy + policy, `duplicate name "p.static.k8s.io" found in file`},
		{"ValidatingAdmissionPolicy", strings.Replace(policy, ".static", ".other", 1), "static.k8s.io"},
		{"ValidatingAdmissionPolicy", strings.Replace(policy, "spec: {", "spec: {odd: 1, ", 1), `ValidatingAdmissionPolicy "p.static.k8s.io": strict decoding error: unknown field "spec.odd"`},
		{"ValidatingAdmissionPolicy", strings.Replace(policy, "metadata: {", "metadata: {labels: 1, ", 1), `ValidatingAdmissionPolicy "p.static.k8s.io": `},
		{"ValidatingAdmissionPolicy", strings.Replace(policy, "[CREATE]", "[MAKE]", 1), `Unsupported value: "MAKE"`},
		{"ValidatingAdmissionPolicy", document("ValidatingAdmissionPolicyBinding", "b", boundBy), `binding "b.static.k8s.io" references policy "p.static.k8s.io" which does not exist in the manifest directory`},
		{"ValidatingAdmissionPolicy", policy + document("ValidatingAdmissionPolicyBinding", "b", strings.Replace(boundBy, "p.static.k8s.io", "p", 1)), `binding "b.static.k8s.io": spec.policyName "p" must end with ".static.k8s.io"`},
		{"ValidatingAdmissionPolicy", document("ValidatingAdmissionPolicyBinding", "p", boundBy), `references policy "p.static.k8s.io" which does not exist`},
		{"ValidatingAdmissionPolicy", document("ValidatingAdmissionPolicy", "p", asking), "spec.paramKind is not supported for static manifests without an object of it in the manifest directory: there is no example.com/v1, Kind=Setting"},
		{"ValidatingAdmissionWebhook", settings, "unsupported resource type example.com/v1, Kind=Setting"},
		{"ValidatingAdmissionWebhook", policy, "unsupported resource type admissionregistration.k8s.io/v1, Kind=ValidatingAdmissionPolicy"},
		{"ValidatingAdmissionWebhook", hook("{service: {namespace: a, name: b}}"), `webhook "a.example.com" in "c.static.k8s.io": clientConfig.service is not supported for static manifests; use clientConfig.url instead`},
		{"ValidatingAdmissionWebhook", hook(`{url: "wasm://free"}`), `webhook "a.example.com" in "c.static.k8s.io": the module "free" must end with ".static.k8s.io"`},
		{guards.Modules, strings.Replace(module, `"upload":{}`, `"oci":{"image":"example.com/a@sha256:0000000000000000000000000000000000000000000000000000000000000000"}`, 1), `spec.source has to be inline, or upload: {} for the file a.static.k8s.io.wasm`},
		{guards.Modules, strings.Replace(module, `"source":{"upload":{}}`, `"source":1`, 1), ""},
	} {
		w := forPlugin(t, c.plugin)
		file := filepath.Join(w.folder, "a.yaml")
		w.write(file, c.text)
		if _, err := guards.New(t.Context(), w.Config); err == nil || !strings.HasPrefix(err.Error(), c.plugin+": ") || !strings.Contains(err.Error(), strings.ReplaceAll(c.want, "FILE", file)) {
			t.Errorf("%s\n%v, want %s", c.text, err, c.want)
		}
	}
}

// What can be used is in force in full: guards, those that bind them, and parameters.
func TestFoldersInForce(t *testing.T) {
	const twice = "apiVersion: example.com/v1\nkind: Setting\nmetadata: {name: one, namespace: a, labels: {x: z}}\n---\napiVersion: example.com/v1\nkind: Other\nmetadata: {name: one}\n---\n"
	for _, c := range []struct{ plugin, text, want string }{
		{"ValidatingAdmissionPolicy", "# nothing\n---\n" + document("ValidatingAdmissionPolicyBinding", "b", boundBy) + document("ValidatingAdmissionPolicy", "p", asking) + settings + twice,
			"b.static.k8s.io one* one* one* p.static.k8s.io"},
		{"MutatingAdmissionPolicy", settings + `{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: c}}]}`, "a* a* one*"},
		{"ValidatingAdmissionWebhook", document("ValidatingWebhookConfiguration", "c", "webhooks: [{name: a.example.com, "+hookRest+`, clientConfig: {url: "wasm://m.static.k8s.io"}}, {name: b.example.com, `+hookRest+`, clientConfig: {url: "https://a.example.com/"}}]`), "c.static.k8s.io"},
		{"MutatingAdmissionWebhook", "", ""},
		{guards.Modules, strings.Replace(module, `"upload":{}`, `"inline":"AGFzbQEAAAA="`, 1), "a.static.k8s.io"},
	} {
		w := forPlugin(t, c.plugin)
		w.write(filepath.Join(w.folder, "a.yaml"), c.text)
		all, err := guards.New(t.Context(), w.Config)
		if err != nil {
			t.Errorf("%s\n%v", c.text, err)
			continue
		}
		var names []string
		for _, o := range all.Folder(c.plugin).Current().Objects {
			name := o.GetName()
			if o.Parameter {
				name += "*"
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != c.want || len(all.All()) != 1 || all.Folder(c.plugin).Path() != w.folder || len(w.told) != 1 || w.told[0] != "<nil>" {
			t.Errorf("%s, want %s; %v", got, c.want, w.told)
		}
	}
	for kind, want := range map[schema.GroupKind]bool{
		{Group: "wasmgate.dev", Kind: "ModuleTrust"}: true, {Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}: true,
		{Kind: "ConfigMap"}: false, {Group: "wasmgate.dev", Kind: "MutatingAdmissionPolicy"}: false,
	} {
		if guards.Has(kind) != want {
			t.Error(kind, !want)
		}
	}
}

// A plugin without a folder has none; folders need the feature, and their plugin.
func TestWhetherThereAreFolders(t *testing.T) {
	w := forPlugin(t, "ValidatingAdmissionPolicy")
	w.Admits = func(string) bool { return false }
	_, err := guards.New(t.Context(), w.Config)
	if err == nil || err.Error() != "ValidatingAdmissionPolicy has a folder and is off: --disable-admission-plugins" {
		t.Error(err)
	}
	modules := forPlugin(t, guards.Modules)
	modules.Admits = w.Admits // modules are no plugin that could be off
	if _, err := guards.New(t.Context(), modules.Config); err != nil {
		t.Error(err)
	}
	w.Admits, w.Allowed = func(string) bool { return true }, false
	if _, err = guards.New(t.Context(), w.Config); err == nil || !strings.Contains(err.Error(), "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled") {
		t.Error(err)
	}
	// Without one it is all the same.
	for _, kind := range []string{"{name: %s}", "{name: %s, configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: ValidatingAdmissionPolicyConfiguration}}"} {
		w.write(w.config, "apiVersion: apiserver.k8s.io/v1alpha1\nkind: AdmissionConfiguration\nplugins:\n- "+strings.ReplaceAll(kind, "%s", "ValidatingAdmissionPolicy"))
		all, err := guards.New(t.Context(), w.Config)
		if err != nil || len(all.All()) != 0 || all.Check(t.Context()) != nil {
			t.Fatal(all, err)
		}
		f := all.Folder("ValidatingAdmissionPolicy")
		if len(f.Current().Objects) != 0 || f.Accept(t.Context(), func(context.Context, *guards.State) error { return errors.New("it is asked") }) != nil {
			t.Error("it has a folder")
		}
	}
	var none *guards.Guards
	if none.Folder(guards.Modules) != nil || len(none.All()) != 0 || none.Check(t.Context()) != nil {
		t.Error("nil has guards")
	}
	for file, text := range map[string]string{"gone.yaml": "", "config.yaml": "a: [", "missing.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- {name: WasmModules, path: nowhere.yaml}"} {
		w.Path = filepath.Join(w.dir, file)
		if text != "" {
			w.write(w.Path, text)
		}
		_, err := guards.New(t.Context(), w.Config)
		if err == nil || file != "config.yaml" && !errors.Is(err, fs.ErrNotExist) {
			t.Error(file, err)
		}
	}
}
