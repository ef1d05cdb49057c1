package webhook

import (
	"context"
	"errors"
	"maps"
	"testing"
)

// What webhooks annotate is told to who audits, below their names.
func TestWhatWebhooksAnnotate(t *testing.T) {
	for _, mutating := range []bool{false, true} {
		w := newWorld(t)
		r := w.request()
		r.Annotated = map[string]string{}
		w.answers["a"] = says(`{"allowed":true,"auditAnnotations":{"seen":"yes"}}`)
		if err := w.decide(t.Context(), mutating, r, `{}`); err != nil || r.Annotated["a/seen"] != "yes" {
			t.Errorf("%v, %q", err, r.Annotated)
		}
	}
}

// What webhooks did, which failed and were ignored, and whose code answered is told as
// kube-apiserver tells it.
func TestWhatIsAuditedOfWebhooks(t *testing.T) {
	fails := func(context.Context, map[string]any) (string, error) { return "", errors.New("no") }
	w := newWorld(t)
	r := w.request()
	r.Annotated = map[string]string{}
	w.answers["a"] = patches(`[{"value":"<x>","path":"/a","op":"add"}]`)
	w.answers["b"] = fails
	hooks := NewSet(w.hooks(true, `{"reinvocationPolicy":"IfNeeded"}`, `{"failurePolicy":"Ignore"}`, `{"rules":[{"operations":["DELETE"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs"]}]}`, `{}`)).About(r)
	w.answers["d"] = patches(`[{"op":"add","path":"/d","value":1}]`)
	if err := w.mutate(t.Context(), hooks, r); err != nil {
		t.Fatal(err)
	}
	configuration := hooks[0].Configuration
	about := func(name, rest string) string {
		return `{"configuration":"` + configuration + `","webhook":"` + name + `",` + rest + `}`
	}
	want := map[string]string{
		"mutation.webhook.admission.k8s.io/round_0_index_0":             about("a", `"mutated":true`),
		"patch.webhook.admission.k8s.io/round_0_index_0":                about("a", `"patch":[{"op":"add","path":"/a","value":"\u003cx\u003e"}],"patchType":"JSONPatch"`),
		"mutation.module.wasmgate.dev/round_0_index_0":                  about("a", `"digest":"sha256:a","signedBy":["t/asha256:a"]`),
		"mutation.webhook.admission.k8s.io/round_0_index_1":             about("b", `"mutated":false`),
		"failed-open.mutation.webhook.admission.k8s.io/round_0_index_1": "b",
		"mutation.webhook.admission.k8s.io/round_0_index_3":             about("d", `"mutated":true`),
		"patch.webhook.admission.k8s.io/round_0_index_3":                about("d", `"patch":[{"op":"add","path":"/d","value":1}],"patchType":"JSONPatch"`),
		"mutation.module.wasmgate.dev/round_0_index_3":                  about("d", `"digest":"sha256:d","signedBy":["t/dsha256:d"]`),
		"mutation.webhook.admission.k8s.io/round_1_index_0":             about("a", `"mutated":false`),
		"patch.webhook.admission.k8s.io/round_1_index_0":                about("a", `"patch":[{"op":"add","path":"/a","value":"\u003cx\u003e"}],"patchType":"JSONPatch"`),
		"mutation.module.wasmgate.dev/round_1_index_0":                  about("a", `"digest":"sha256:a","signedBy":["t/asha256:a"]`),
	}
	if !maps.Equal(r.Annotated, want) {
		t.Errorf("%q\nwant\n%q", r.Annotated, want)
	}
	w, want = newWorld(t), map[string]string{
		"validation.module.wasmgate.dev/round_0_index_0":                  about("a", `"digest":"sha256:a","signedBy":["t/asha256:a"]`),
		"failed-open.validating.webhook.admission.k8s.io/round_0_index_1": "c",
	}
	r = w.request()
	r.Annotated = map[string]string{}
	w.answers["c"] = fails
	hooks = NewSet(w.hooks(false, `{}`, `{"rules":[{"operations":["DELETE"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs"]}]}`, `{"failurePolicy":"Ignore"}`)).About(r)
	if err := w.validate(t.Context(), hooks, r); err != nil || !maps.Equal(r.Annotated, want) {
		t.Errorf("%v, %q\nwant\n%q", err, r.Annotated, want)
	}
	r.Annotated = nil // where nobody audits, nothing is made
	if err := w.validate(t.Context(), hooks, r); err != nil {
		t.Error(err)
	}
}
