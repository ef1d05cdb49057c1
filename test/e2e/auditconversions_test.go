package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestWhoConvertsIsAudited has requests at the stored version, which nobody converts, and
// at another, of kinds that a module, a webhook and nobody convert.
func TestWhoConvertsIsAudited(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	rules := "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- {level: Metadata, verbs: [get, list, create, update, patch, watch, delete, deletecollection]}\n"
	if err := os.WriteFile(policy, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{Args: []string{"--audit-policy-file", policy, "--audit-log-path", log, "--audit-log-mode", "blocking"}})
	module := harness.Module(t, crontabModule)
	pushModule(t, g.API(t), "crontab", module)
	const gone = "https://127.0.0.1:1/convert"
	for by, conversion := range map[string]map[string]any{
		`{"module":"crontab","digest":"` + signature.Digest(module) + `"}`: wasmConversion("crontab"),
		`{"module":"missing"}`:          wasmConversion("missing"),
		`{"rules":"missing"}`:           wasmConversion("rules/missing"),
		`{"webhook":"` + gone + `"}`:    {"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": gone}}},
		`{"webhook":"svc/default/tab"}`: {"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"service": map[string]any{"namespace": "default", "name": "tab"}}}},
		"":                              {"strategy": "None"},
	} {
		c := newCronTabs(t, &g.Server, func(crd object) { crd.Set("spec.conversion", conversion) })
		c.api.Post(c.list("v1"), c.object("v1", "one", `{}`)).Want(201)
		c.api.Get(c.path("v1", "one")).Want(200)
		_, _ = c.api.Try("GET", c.path("v1beta1", "one"), nil)
		_, _ = c.api.Try("GET", c.list("v1beta1"), nil)
		labels := object{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}
		_, _ = c.api.Try("PATCH", c.path("v1beta1", "one"), labels, "Content-Type", "application/merge-patch+json")
		_, _ = c.api.Try("PUT", c.path("v1beta1", "one"), c.object("v1beta1", "one", `{}`))
		_, _ = c.api.Try("GET", c.list("v1beta1")+"?watch=true&timeoutSeconds=3", nil)
		_, _ = c.api.Try("DELETE", c.path("v1beta1", "one")+"?dryRun=All", nil)
		_, _ = c.api.Try("DELETE", c.list("v1beta1")+"?dryRun=All", nil)
		_, _ = c.api.Try("DELETE", c.path("v1", "one"), nil)
		for of, said := range convertersSaid(t, log, c.group) {
			want := by
			if strings.HasSuffix(of, " v1") {
				want = ""
			}
			if said != want {
				t.Errorf("%s: %s is converted by %q, want %q", conversion, of, said, want)
			}
		}
	}
}

// convertersSaid are who converted, by the verbs and versions of the requests of a group.
func convertersSaid(t *testing.T, log, group string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Verb        string
			ObjectRef   struct{ APIGroup, APIVersion, Namespace string }
			Annotations map[string]string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.ObjectRef.APIGroup == group && e.ObjectRef.Namespace != "" {
			said[e.Verb+" "+e.ObjectRef.APIVersion] = e.Annotations["conversion.wasmgate.dev/by"]
		}
	}
	for _, of := range []string{"create v1", "get v1", "get v1beta1", "list v1beta1", "patch v1beta1", "update v1beta1", "watch v1beta1", "delete v1beta1", "deletecollection v1beta1", "delete v1"} {
		if _, there := said[of]; !there {
			t.Errorf("there is no event of %s: %v", of, said)
		}
	}
	return said
}
