package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// guardFolders are the folders of guards of some gateways.
type guardFolders struct {
	*testing.T
	dir string
}

// newGuards makes a folder for each plugin, and the file that names them.
func newGuards(t *testing.T, plugins ...string) guardFolders {
	t.Helper()
	g := guardFolders{t, t.TempDir()}
	config := "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
	for _, p := range plugins {
		kind, version := p+"Configuration", "apiserver.config.k8s.io/v1"
		switch {
		case strings.HasSuffix(p, "Webhook"):
			kind = "WebhookAdmissionConfiguration"
		case p == "WasmModules":
			kind, version = "WasmModuleConfiguration", "wasmgate.dev/v1"
		}
		if err := os.MkdirAll(filepath.Join(g.dir, p), 0o700); err != nil {
			t.Fatal(err)
		}
		config += fmt.Sprintf("- name: %s\n  configuration: {apiVersion: %s, kind: %s, staticManifestsDir: %s}\n", p, version, kind, filepath.Join(g.dir, p))
	}
	g.write("config.yaml", config)
	return g
}

// write replaces a file at once.
func (g guardFolders) write(name, text string) {
	g.Helper()
	file := filepath.Join(g.dir, name)
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		g.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		g.Fatal(err)
	}
}

func (g guardFolders) args(more ...string) []string {
	return append([]string{"--admission-control-config-file", filepath.Join(g.dir, "config.yaml"), "--feature-gates=ManifestBasedAdmissionControlConfig=true"}, more...)
}

// guardPolicy is a policy, and its binding, that a field of ConfigMaps has to satisfy.
func guardPolicy(name, resources, expression string) string {
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s.static.k8s.io}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE, DELETE], resources: [%[2]s]}]}
  validations: [{expression: %[3]q, message: %[1]s says no}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s.static.k8s.io}
spec: {policyName: %[1]s.static.k8s.io, validationActions: [Deny]}
`, name, resources, expression)
}

const (
	inDefault     = "/api/v1/namespaces/default/configmaps"
	guardPolicies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
)

func configMapOf(name string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"}}`
}

// TestGuards has a gateway started with a folder of policies, which changes.
func TestGuards(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	f := newGuards(t, "ValidatingAdmissionPolicy")
	f.write("ValidatingAdmissionPolicy/a.yaml", guardPolicy("names", "configmaps", "!object.metadata.name.startsWith('bad')"))
	g := harness.Start(t, harness.Options{Args: f.args()})
	api := g.API(t)
	api.Post(inDefault, configMapOf("bad-1")).WantStatus(422, "Invalid", "ValidatingAdmissionPolicy 'names.static.k8s.io' with binding 'names.static.k8s.io' denied request: names says no")
	api.Post(inDefault, configMapOf("good-1")).Want(201)

	t.Run("the API neither makes nor changes nor removes one", func(t *testing.T) {
		api := g.API(t)
		api.Get(guardPolicies + "/names.static.k8s.io").Want(404)
		api.Delete(guardPolicies + "/names.static.k8s.io").Want(404)
		for path, kind := range map[string]string{
			guardPolicies: "ValidatingAdmissionPolicy", guardPolicies[:len(guardPolicies)-len("policies")] + "policybindings": "ValidatingAdmissionPolicyBinding",
			"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": "MutatingWebhookConfiguration",
		} {
			body := `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"` + kind + `","metadata":{"name":"x.static.k8s.io"}}`
			api.Post(path, body).WantStatus(422, "Invalid", `metadata.name: Invalid value: "x.static.k8s.io": names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API`)
		}
		newer := `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"x.static.k8s.io"},"spec":{"source":{"upload":{}}}}`
		api.Post(modulePath, newer).WantStatus(422, "Invalid", "are reserved for")
		// A binding of the API puts no policy of a folder in force, nor out of it.
		api.Post(guardPolicies[:len(guardPolicies)-len("policies")]+"policybindings", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"weaker"},"spec":{"policyName":"names.static.k8s.io","validationActions":["Warn"]}}`).Want(201)
		api.Post(inDefault, configMapOf("bad-2")).WantStatus(422, "Invalid", "names says no")
	})
	t.Run("it guards policies of the API", func(t *testing.T) {
		api := g.API(t)
		f.write("ValidatingAdmissionPolicy/b.yaml", guardPolicy("frozen", "validatingadmissionpolicies", "false"))
		body := `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"%s"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"]}]},"validations":[{"expression":"true"}]}}`
		n := 0
		harness.Eventually(t, "policies are refused", func() bool {
			n++
			return api.Post(guardPolicies, fmt.Sprintf(body, fmt.Sprint("p", n))).Code == 422
		})
	})
	t.Run("changes are followed, and a broken file keeps what was", func(t *testing.T) {
		api := g.API(t)
		f.write("ValidatingAdmissionPolicy/a.yaml", guardPolicy("names", "configmaps", "!object.metadata.name.startsWith('worse')"))
		n := 0
		harness.Eventually(t, "bad names are good ones", func() bool {
			n++
			return api.Post(inDefault, configMapOf(fmt.Sprint("bad-x", n))).Code == 201
		})
		api.Post(inDefault, configMapOf("worse")).WantStatus(422, "Invalid", "names says no")
		f.write("ValidatingAdmissionPolicy/a.yaml", guardPolicy("names", "configmaps", "object.metadata.nam +"))
		harness.Eventually(t, "health tells of it", func() bool { return api.Get("/healthz/guards").Code == 500 })
		api.Get("/readyz").Want(200)
		harness.Eventually(t, "the log tells of it", func() bool { // as the last
			return strings.Contains(g.Log(), "a folder of guards cannot be used: what it said before is in force")
		})
		if metric(t, api, "apiserver_manifest_admission_config_controller_automatic_reloads_total", `status="failure"`, `plugin="ValidatingAdmissionPolicy"`) != 1 {
			t.Error("no metric tells of it")
		}
		api.Post(inDefault, configMapOf("worse")).WantStatus(422, "Invalid", "names says no")
		f.write("ValidatingAdmissionPolicy/a.yaml", guardPolicy("names", "configmaps", "!object.metadata.name.startsWith('worse')"))
		harness.Eventually(t, "health is well", func() bool { return api.Get("/healthz/guards").Code == 200 })
		harness.Eventually(t, "a metric tells the hash", func() bool {
			return metric(t, api, "apiserver_manifest_admission_config_controller_last_config_info", `plugin="ValidatingAdmissionPolicy"`) == 1
		})
	})
}

// TestGuardParameters has policies from a folder find their parameters there, and nowhere
// else.
func TestGuardParameters(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	f := newGuards(t, "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
	policy := func(most string) string {
		return `apiVersion: v1
kind: List
items:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: most.static.k8s.io}
  spec:
    paramKind: {apiVersion: v1, kind: ConfigMap}
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
    validations: [{expression: "size(object.metadata.name) <= int(params.data.most)", messageExpression: "'at most ' + params.data.most"}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: most.static.k8s.io}
  spec: {policyName: most.static.k8s.io, validationActions: [Deny], paramRef: {name: most, namespace: default, parameterNotFoundAction: Deny}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: most, namespace: default}, data: {most: "` + most + `"}}
`
	}
	f.write("ValidatingAdmissionPolicy/a.yaml", policy("5"))
	f.write("MutatingAdmissionPolicy/a.yaml", `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: mark.static.k8s.io}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'by': 'folder'}}}"}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: mark.static.k8s.io}
spec: {policyName: mark.static.k8s.io}
`)
	api := harness.Start(t, harness.Options{Args: f.args()}).API(t)
	api.Post(inDefault, configMapOf("sixsix")).WantStatus(422, "Invalid", "at most 5")
	api.Post(inDefault, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"most"},"data":{"most":"9"}}`).Want(201).Equal("metadata.labels.by", "folder")
	api.Post(inDefault, configMapOf("sixsix")).WantStatus(422, "Invalid", "at most 5")
	f.write("ValidatingAdmissionPolicy/a.yaml", policy("6"))
	harness.Eventually(t, "another parameter counts", func() bool { return api.Post(inDefault, configMapOf("sixsix")).Code == 201 })
}

// TestGuardsThatCannotBeUsed starts no gateway without the guards that it is told of.
func TestGuardsThatCannotBeUsed(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	good := guardPolicy("a", "configmaps", "true")
	for name, c := range map[string]struct{ plugin, file, text, gates, want string }{
		"the feature is off": {"ValidatingAdmissionPolicy", "a.yaml", good, "--feature-gates=ManifestBasedAdmissionControlConfig=false", "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled"},
		"a name":             {"ValidatingAdmissionPolicy", "a.yaml", strings.ReplaceAll(good, ".static.k8s.io", ""), "", `must have a name ending with ".static.k8s.io"`},
		"a binding":          {"ValidatingAdmissionPolicy", "a.yaml", strings.ReplaceAll(good, "policyName: a", "policyName: b"), "", "does not exist in the manifest directory"},
		"an expression":      {"ValidatingAdmissionPolicy", "a.yaml", guardPolicy("a", "configmaps", "object."), "", "compilation failed"},
		"a field":            {"ValidatingAdmissionPolicy", "a.json", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"a.static.k8s.io"},"spec":{"matchConstraint":{}}}`, "", `unknown field "spec.matchConstraint"`},
		"another's kind":     {"MutatingAdmissionPolicy", "a.yaml", good, "", "unsupported resource type admissionregistration.k8s.io/v1, Kind=ValidatingAdmissionPolicy"},
		"a service": {"ValidatingAdmissionWebhook", "a.yml", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"a.static.k8s.io"},"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"a","name":"b"}}}]}`,
			"", "clientConfig.service is not supported for static manifests"},
		"a module of the API": {"ValidatingAdmissionWebhook", "a.yml", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"a.static.k8s.io"},"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"wasm://tabs"}}]}`,
			"", `the module "tabs" must end with ".static.k8s.io"`},
		"no parameters": {"ValidatingAdmissionPolicy", "a.yaml", strings.Replace(good, "spec:\n", "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n", 1), "", "spec.paramKind is not supported for static manifests"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newGuards(t, c.plugin)
			f.write(c.plugin+"/"+c.file, c.text)
			args := append([]string{"serve", "--secure-port=0", "--data-dir", t.TempDir()}, f.args()...)
			if c.gates != "" {
				args = append(args, c.gates)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, harness.Binary(t), args...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, and it printed\n%s\nwithout %q", err, out, c.want)
			}
		})
	}
}

const guardReports = "/apis/wasmgate.dev/v1/guardreports"

// guardModule is a module from disk, and guardHook the webhook that it is.
const (
	guardModule = `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"labels.static.k8s.io"},"spec":{"source":{"upload":{}}}}`
	guardHook   = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"labels.static.k8s.io"},"webhooks":[{"name":"a.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
"clientConfig":{"url":"wasm://labels.static.k8s.io"},"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"default"}},"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}]}`
)

// TestGuardModules has a module from disk judge writes, whose content changes, breaks, and
// has to be signed.
func TestGuardModules(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	f, policy, by := newGuards(t, "WasmModules", "ValidatingAdmissionWebhook"), plugintest.Build(t, plugintest.Policy), newSigner(t)
	content := "WasmModules/labels.static.k8s.io.wasm"
	f.write("WasmModules/a.yaml", guardModule)
	f.write(content, string(policy))
	f.write("ValidatingAdmissionWebhook/a.yaml", guardHook)
	g := harness.Start(t, harness.Options{Args: f.args()})
	api := g.API(t)
	api.Post(inDefault, configMapOf("one")).WantStatus(403, "Forbidden", "ConfigMap one needs a label")
	api.Get(modulePath + "/labels.static.k8s.io").Want(404)

	refused := func(what string) {
		t.Helper()
		harness.Eventually(t, what, func() bool { return api.Get("/healthz/guards").Code == 500 })
		api.Post(inDefault, configMapOf("one")).WantStatus(403, "Forbidden", "ConfigMap one needs a label")
	}
	accepted := func(what string) {
		t.Helper()
		harness.Eventually(t, what, func() bool { return api.Get("/healthz/guards").Code == 200 })
		api.Post(inDefault, configMapOf("one")).WantStatus(403, "Forbidden", "ConfigMap one needs a label")
	}
	f.write(content, "nonsense")
	refused("content that is no module")
	f.write(content, string(policy))
	accepted("the module again")
	f.write("WasmModules/trust.yaml", strings.Replace(by.policy("prod", "*"), `"prod"`, `"prod.static.k8s.io"`, 1))
	refused("a module that is not signed")
	newModule(t, api, "other")
	f.write(content, string(by.sign(policy)))
	accepted("a module that is signed")
	harness.Eventually(t, "modules of the API have to be signed, too", func() bool {
		return api.Put(modulePath+"/other/content", policy, "Content-Type", "application/wasm").Code == 422
	})
	api.Post(trusts, `{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":"x.static.k8s.io"},"spec":{"revokedDigests":["sha256:`+strings.Repeat("0", 64)+`"]}}`).WantStatus(422, "Invalid", "are reserved for")
	g.Terminate(t)
	g.Restart(t)
	g.API(t).Post(inDefault, configMapOf("one")).WantStatus(403, "Forbidden", "ConfigMap one needs a label")
}

// TestGuardDrift has two gateways with folders of their own, and one with none.
func TestGuardDrift(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	one, two := newGuards(t, "ValidatingAdmissionPolicy"), newGuards(t, "ValidatingAdmissionPolicy")
	policy := guardPolicy("names", "configmaps", "!object.metadata.name.startsWith('bad')")
	one.write("ValidatingAdmissionPolicy/a.yaml", policy)
	two.write("ValidatingAdmissionPolicy/a.yaml", policy)
	first := harness.Start(t, harness.Options{Args: one.args()})
	second := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL, Args: two.args()})
	api, there := first.API(t), second.API(t)
	drift := func(reports int, want string) {
		t.Helper()
		api.Eventually(guardReports, func(r *harness.Reply) bool {
			var n int
			for _, item := range r.Object()["items"].([]any) {
				if condition(item.(map[string]any), "Drift")["status"] == want {
					n++
				}
			}
			return n == reports && len(r.Object()["items"].([]any)) == reports
		})
	}
	differ := func(api *harness.API, want float64) {
		t.Helper()
		harness.Eventually(t, "the metric of drift", func() bool {
			return metric(t, api, "wasmgate_guards_drift", `plugin="ValidatingAdmissionPolicy"`) == want
		})
	}
	drift(2, "False")
	r := api.Get(guardReports).Want(200)
	if !r.Contains(`"expression":"!object.metadata.name.startsWith('bad')"`) {
		t.Errorf("guards cannot be seen: %s", r.Body)
	}
	name := r.Object()["items"].([]any)[0].(map[string]any)["metadata"].(map[string]any)["name"].(string)
	api.Delete(guardReports + "/" + name).Want(405)
	api.Merge(guardReports+"/"+name, `{"status":{"folders":null}}`).Want(405)
	api.Post(guardReports, `{"apiVersion":"wasmgate.dev/v1","kind":"GuardReport","metadata":{"name":"forged"}}`).Want(405)

	two.write("ValidatingAdmissionPolicy/a.yaml", guardPolicy("names", "configmaps", "true"))
	drift(2, "True")
	differ(api, 1)
	differ(there, 1)
	two.write("ValidatingAdmissionPolicy/a.yaml", policy)
	drift(2, "False")
	differ(there, 0)
	harness.Start(t, harness.Options{EtcdServers: first.EtcdURL}) // without any
	drift(3, "True")
	differ(api, 1)
}
