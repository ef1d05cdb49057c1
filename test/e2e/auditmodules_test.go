package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestWhatIsAuditedOfModules has a module change a write, by which digest and whose
// signature is in the event of it, and a webhook fail that is ignored. The rest of the
// annotations is kube-apiserver's.
func TestWhatIsAuditedOfModules(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	rules := "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n" +
		"- {level: Metadata, namespaces: [metadata], resources: [{resources: [configmaps]}]}\n- {level: Request, resources: [{resources: [configmaps]}]}\n"
	if err := os.WriteFile(policy, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{Args: []string{"--audit-policy-file", policy, "--audit-log-path", log, "--audit-log-mode", "blocking"}})
	api, by := g.API(t), newSigner(t)
	api.Post(trusts, by.policy("prod", "policy")).Want(201)
	signed := by.sign(plugintest.Build(t, plugintest.Policy))
	pushModule(t, api, "policy", signed)
	awaitTrusted(api, "policy", "True", "Signed", "True")
	hook := func(name, url, rest string) string {
		return `{"name":"` + name + `.example.com","clientConfig":{"url":"` + url + `"},"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}],
			"sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":30` + rest + `}`
	}
	api.Post(hooksPath+"mutatingwebhookconfigurations", `{"metadata":{"name":"audited"},"webhooks":[`+hook("gone", "https://127.0.0.1:1", `,"failurePolicy":"Ignore"`)+","+hook("policy", "wasm://policy", "")+`]}`).Want(201)
	if !harness.Poll(time.Minute, func() bool {
		return api.Post("/api/v1/namespaces/default/configmaps?dryRun=All", `{"metadata":{"name":"probe"}}`).Code == 403
	}) {
		t.Fatal("the module is not asked")
	}
	api.Post("/api/v1/namespaces", `{"metadata":{"name":"metadata"}}`).Want(201)
	const about = `{"configuration":"audited","webhook":`
	want := map[string]string{
		"mutation.webhook.admission.k8s.io/round_0_index_0":             about + `"gone.example.com","mutated":false}`,
		"failed-open.mutation.webhook.admission.k8s.io/round_0_index_0": "gone.example.com",
		"mutation.webhook.admission.k8s.io/round_0_index_1":             about + `"policy.example.com","mutated":true}`,
		"mutation.module.wasmgate.dev/round_0_index_1":                  about + `"policy.example.com","digest":"` + signature.Digest(signed) + `","signedBy":["prod/release"]}`,
	}
	const patch = "patch.webhook.admission.k8s.io/round_0_index_1"
	for _, ns := range []string{"metadata", "default"} {
		api.Post("/api/v1/namespaces/"+ns+"/configmaps", `{"metadata":{"name":"audited-`+ns+`","labels":{"team":"x"}}}`).Want(201)
		said := annotationsOf(t, log, "audited-"+ns)
		for key, value := range want {
			if said[key] != value {
				t.Errorf("%s: %s is %q, want %q", ns, key, said[key], value)
			}
		}
		if _, has := said[patch]; has != (ns == "default") || has && (!strings.HasPrefix(said[patch], about+`"policy.example.com","patch":[{"op":`) || !strings.Contains(said[patch], "standard")) {
			t.Errorf("%s: the patch is %q", ns, said[patch])
		}
	}
}

// annotationsOf are those of the event of the creation of a ConfigMap.
func annotationsOf(t *testing.T, log, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Verb        string
			ObjectRef   struct{ Name string }
			Annotations map[string]string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Verb == "create" && e.ObjectRef.Name == name {
			return e.Annotations
		}
	}
	t.Fatalf("there is no event of %s:\n%s", name, text)
	return nil
}
