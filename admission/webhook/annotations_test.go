package webhook

import "testing"

// What webhooks annotate is told to who audits, below their names.
func TestWhatWebhooksAnnotate(t *testing.T) {
	for _, mutating := range []bool{false, true} {
		w := newWorld(t)
		r := w.request()
		r.Annotated = map[string]string{}
		w.answers["a"] = says(`{"allowed":true,"auditAnnotations":{"seen":"yes"}}`)
		if err := w.decide(t.Context(), mutating, r, `{}`); err != nil || len(r.Annotated) != 1 || r.Annotated["a/seen"] != "yes" {
			t.Errorf("%v, %q", err, r.Annotated)
		}
	}
}
