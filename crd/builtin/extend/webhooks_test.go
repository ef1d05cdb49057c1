package extend_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What a configuration has that is forbidden today it may have further, and only that.
func TestWebhooksKeepWhatTheyHad(t *testing.T) {
	defs := builtintest.Definitions(t)
	hook := func(name, more string) string {
		fields := `"name":"` + name + `.example.com","clientConfig":{"url":"https://a.example.com"}`
		if !strings.Contains(more, "admissionReviewVersions") {
			more += `,"admissionReviewVersions":["v1"]`
		}
		if !strings.Contains(more, "sideEffects") {
			more += `,"sideEffects":"None"`
		}
		return "{" + fields + more + "}"
	}
	all := func(hooks ...string) string {
		return `{"metadata":{"name":"x"},"webhooks":[` + strings.Join(hooks, ",") + `]}`
	}
	const (
		v0, none  = `,"admissionReviewVersions":["v0"]`, `,"admissionReviewVersions":[]`
		selects   = `,"objectSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b c"]}]}`
		odd       = `,"matchConditions":[{"name":"c","expression":"odd"}]`
		more      = `,"timeoutSeconds":5`
		reviewed  = `webhooks[0].admissionReviewVersions: Invalid value: ["v0"]: must include at least one of v1, v1beta1`
		duplicate = `Duplicate value: "a.example.com"`
		selected  = `webhooks[0].objectSelector.matchExpressions[0].values[0]: Invalid value: "b c"`
		undefined = `matchConditions[0].expression: Invalid value: "odd": compilation failed: ERROR: <input>:1:1: undeclared reference to 'odd'`
		effects   = `webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`
	)
	a, b := hook("a", ""), hook("b", "")
	for _, c := range []struct{ what, was, now, want string }{
		{"a review", all(a), all(hook("a", v0)), reviewed},
		{"a review that was there", all(hook("a", v0)), all(hook("a", v0+more)), ""},
		{"a review that was there in one of two", all(hook("a", v0), b), all(hook("a", v0), hook("b", v0)), ""},
		{"a review where there was none", all(hook("a", none)), all(hook("a", v0)), reviewed},
		{"a name twice", all(a, b), all(a, a), "webhooks[1].name: " + duplicate},
		{"a name that was there twice", all(a, a), all(a, a, hook("a", more)), ""},
		{"a name that was there twice, and another", all(a, a, b), all(a, a, hook("b", more)), ""},
		{"a selector", all(a), all(hook("a", selects)), selected},
		{"a selector that was there", all(hook("a", selects)), all(hook("a", selects+more)), ""},
		{"a selector that was there in one of two", all(hook("a", selects), b), all(hook("a", selects), hook("b", selects)), ""},
		{"a condition", all(a), all(hook("a", odd)), "webhooks[0]." + undefined},
		{"a condition that was there", all(hook("a", odd)), all(hook("a", odd+more)), ""},
		{"a condition that was there, and another webhook", all(hook("a", odd)), all(hook("a", odd), b), "webhooks[0]." + undefined},
		{"a condition that was there, and another", all(hook("a", odd), b), all(hook("a", odd), hook("b", odd)), "webhooks[1]." + undefined},
		{"an effect", all(a, b), all(hook("a", `,"sideEffects":"Some"`), b), effects},
		{"an effect that was there in one of two", all(hook("a", `,"sideEffects":"Some"`), b), all(hook("a", `,"sideEffects":"Some"`), hook("b", `,"sideEffects":"Unknown"`)), ""},
		{"an effect where there was none", all(strings.Replace(a, `,"sideEffects":"None"`, "", 1)), all(hook("a", `,"sideEffects":"Some"`)), ""},
	} {
		for _, kind := range []string{"validating", "mutating"} {
			got := crdtest.Message(crdtest.Change(t, defs[kind+"webhookconfiguration"], "", c.was, c.now))
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%s, %s: %s\nwant %s", kind, c.what, got, c.want)
			}
		}
	}
}

// How long a webhook is waited for has bounds, and where it is reached is told in one way.
func TestFieldsOfWebhooks(t *testing.T) {
	d := builtintest.Definitions(t)["mutatingwebhookconfiguration"]
	const url, service = `"clientConfig":{"url":"https://a.example.com"}`, `"clientConfig":{"service":{"name":"s","namespace":"n"`
	for _, c := range []struct{ fields, want string }{
		{url + `,"timeoutSeconds":0`, "timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds"},
		{url + `,"timeoutSeconds":1`, ""},
		{url + `,"timeoutSeconds":30`, ""},
		{url + `,"timeoutSeconds":31`, "timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"},
		{`"clientConfig":{}`, "clientConfig: Required value: exactly one of url or service is required"},
		{service + `},"url":"https://a.example.com"}`, "clientConfig: Required value: exactly one of url or service is required"},
		{service + `}}`, ""},
		{service + `,"port":65536}}`, "clientConfig.service.port: Invalid value: 65536"},
		{url + `,"admissionReviewVersions":["v1","v1","A"]`, "admissionReviewVersions[1]: Invalid value: \"v1\": duplicate version, webhooks[0].admissionReviewVersions[2]: Invalid value: \"A\""},
		{url + `,"admissionReviewVersions":[]`, "admissionReviewVersions: Required value: must specify one of v1, v1beta1"},
		{url + `,"matchConditions":[{"name":"c","expression":" "},{"name":"c","expression":"true"}]`, `[webhooks[0].matchConditions[0].expression: Required value, webhooks[0].matchConditions[1].name: Duplicate value: "c"]`},
		{url + `,"matchConditions":[{"name":"","expression":"true"},{"name":"a b","expression":"true"}]`, `webhooks[0].matchConditions[1].name: Invalid value: "a b"`},
		{url + `,"matchConditions":[{"name":"c","expression":"authorizer.path('/a').check('get').allowed()"}]`, ""},
	} {
		body := `{"metadata":{"name":"x"},"webhooks":[{"name":"a.example.com","sideEffects":"None",` + c.fields
		if !strings.Contains(c.fields, "admissionReviewVersions") {
			body += `,"admissionReviewVersions":["v1"]`
		}
		got := crdtest.Message(crdtest.Creation(t, d, body+"}]}"))
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.fields, got, c.want)
		}
	}
}
