package admitting

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	coreEvent = `{"metadata":{"name":"%"},"involvedObject":{"namespace":"default"},"message":"text"}`
	ownEvent  = `{"metadata":{"name":"%"},"regarding":{"namespace":"default"},"note":"text","type":"Normal","eventTime":"2026-01-01T00:00:00.000001Z",
		"reportingController":"c.d/e","reportingInstance":"i","action":"a","reason":"r"}`
)

// Who asks to be asked about a kind is asked by whichever group it is written, and
// sees it as the rule names it.
func TestWebhooksOfOneGroupAreAskedAboutTheOther_WP02(t *testing.T) {
	w := newWorld(t)
	w.answer = func(name string, r map[string]any) string {
		path := map[string]string{"core": "/message", "own": "/note"}[name]
		return patch(`[{"op":"replace","path":"` + path + `","value":"by ` + name + `"}]`)
	}
	for _, c := range []struct{ hook, group, version, body, request, want string }{
		{"core", "", "events.k8s.io/v1", ownEvent, "events.k8s.io", `"note":"by core"`},
		{"own", "events.k8s.io", "v1", coreEvent, "", `"message":"by own"`},
	} {
		w.sent = nil
		w.configure("mutating", c.hook, c.group, "v1", "events", "")
		out := w.create("", "events", c.version, strings.ReplaceAll(c.body, "%", c.hook))
		if !strings.Contains(out, c.want) || len(w.sent) != 1 {
			t.Fatalf("%s makes %s, asked %d times", c.hook, out, len(w.sent))
		}
		sent := w.sent[0]
		api := map[string]string{"": "v1", "events.k8s.io": "events.k8s.io/v1"}[c.group]
		for path, want := range map[string]any{
			"object.apiVersion": api, "kind.group": c.group, "kind.version": "v1", "resource.group": c.group, "resource.version": "v1", "resource.resource": "events",
			"requestKind.group": c.request, "requestKind.version": "v1", "requestResource.group": c.request, "requestResource.version": "v1",
		} {
			if got := field(sent, strings.Split(path, ".")...); got != want {
				t.Errorf("%s: %s is %v, want %v", c.hook, path, got, want)
			}
		}
		if _, err := w.Delete(t.Context(), w.target(registrations, "mutatingwebhookconfigurations", "", c.hook), &metav1.DeleteOptions{}, alice); err != nil {
			t.Fatal(err)
		}
		w.settled()
	}
	w.sent = nil
	w.configure("validating", "exact", "", "v1", "events", `"matchPolicy":"Exact",`)
	w.create("", "events", "events.k8s.io/v1", strings.ReplaceAll(ownEvent, "%", "exact"))
	if len(w.sent) != 0 {
		t.Errorf("a rule of exactly one group was asked about the other: %v", w.sent)
	}
}

// A policy about one group cannot be got round by the other.
func TestPoliciesOfOneGroupAreAboutTheOther(t *testing.T) {
	w := newWorld(t)
	w.policy("validating", "p", "", "events", `"validations":[{"expression":"object.message != 'text' && request.requestKind.group == 'events.k8s.io' && request.kind.group == ''","message":"no"}]`)
	w.bind("validating", "b", "p", `,"validationActions":["Deny"]`)
	_, err := w.try("", "events", "events.k8s.io/v1", strings.ReplaceAll(ownEvent, "%", "a"), alice)
	if err == nil || !strings.Contains(err.Error(), `events.events.k8s.io "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`) {
		t.Errorf("got %v", err)
	}
	if _, err := w.try("", "events", "events.k8s.io/v1", strings.ReplaceAll(strings.ReplaceAll(ownEvent, "%", "a"), "text", "good"), alice); err != nil {
		t.Error(err)
	}
}
