package admission_test

import (
	"encoding/json"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
)

// tabs is the creation of a Tab at v1, that others can be told of at v2, with labels.
func tabs(t *testing.T, subresource, name string) *admissiontest.Attributes {
	t.Helper()
	return &admissiontest.Attributes{
		Operation: admission.Create, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "tabs"},
		Versions: []string{"v2"}, Subresource: subresource, Namespace: "ns", Name: name, Namespaces: admissiontest.Namespaces{"ns": {"team": "a"}},
		Objects: &admissiontest.Objects{After: admissiontest.Tree(t, `{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"one","labels":{"tier":"gold"}}}`)},
	}
}

// What a policy is about: its rules, but for what they leave out, and what its selectors
// select, at the version of the request or, if it likes, at another.
func TestWhatPoliciesAreAbout(t *testing.T) {
	const rule = `"operations":["CREATE"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs"]`
	const later = `"operations":["*"],"apiGroups":["*"],"apiVersions":["v2"],"resources":["*"]`
	for text, want := range map[string]string{
		`{}`:                                 "v1",
		`{"resourceRules":[{` + rule + `}]}`: "v1",
		`{"resourceRules":[{` + rule + `,"resourceNames":["one"]}]}`:                                           "v1",
		`{"resourceRules":[{` + rule + `,"resourceNames":["other"]}]}`:                                         "",
		`{"resourceRules":[{` + rule + `,"scope":"Namespaced"}]}`:                                              "v1",
		`{"resourceRules":[{` + rule + `,"scope":"*"}]}`:                                                       "v1",
		`{"resourceRules":[{` + rule + `,"scope":"Cluster"}]}`:                                                 "",
		`{"resourceRules":[{"operations":["UPDATE","DELETE"],` + rule[24:] + `}]}`:                             "",
		`{"resourceRules":[{` + later + `}]}`:                                                                  "",
		`{"matchPolicy":"Exact","resourceRules":[{` + later + `}]}`:                                            "",
		`{"matchPolicy":"Equivalent","resourceRules":[{` + later + `}]}`:                                       "v2",
		`{"matchPolicy":"Equivalent","resourceRules":[{` + later + `},{` + rule + `}]}`:                        "v1",
		`{"excludeResourceRules":[{` + rule + `}]}`:                                                            "",
		`{"resourceRules":[{` + rule + `}],"excludeResourceRules":[{` + rule + `,"resourceNames":["one"]}]}`:   "",
		`{"resourceRules":[{` + rule + `}],"excludeResourceRules":[{` + rule + `,"resourceNames":["other"]}]}`: "v1",
		`{"objectSelector":{"matchLabels":{"tier":"gold"}}}`:                                                   "v1",
		`{"objectSelector":{"matchLabels":{"tier":"lead"}}}`:                                                   "",
		`{"namespaceSelector":{"matchLabels":{"team":"a"}}}`:                                                   "v1",
		`{"namespaceSelector":{"matchLabels":{"team":"b"}}}`:                                                   "",
		`{"namespaceSelector":{"matchExpressions":[{"key":"team","operator":"odd"}]}}`:                         "an error",
		`{"objectSelector":{"matchExpressions":[{"key":"tier","operator":"odd"}]}}`:                            "an error",
		`{"resourceRules":[{` + later + `}],"objectSelector":{"matchExpressions":[{"operator":"odd"}]}}`:       "",
	} {
		var m admissionv1.MatchResources
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(text, err)
		}
		got, err := admission.NewScope(&m).Match(t.Context(), tabs(t, "", "one"))
		if err != nil {
			got = "an error"
		}
		if got != want {
			t.Errorf("%s: %q, want %q: %v", text, got, want, err)
		}
	}
}

// Which resources and subresources a rule names.
func TestWhatRulesName(t *testing.T) {
	for _, tc := range []struct {
		resource, subresource string
		about, match          bool
	}{
		{"tabs", "", true, true}, {"tabs", "status", true, false}, {"*", "", true, true}, {"*", "status", true, false}, {"tabs/status", "status", true, true}, {"tabs/status", "", true, false},
		{"tabs/*", "", true, true}, {"tabs/*", "status", true, true}, {"*/*", "status", true, true}, {"*/status", "status", true, true}, {"*/scale", "status", true, false}, {"others", "", false, false}, {"others/*", "status", false, false},
	} {
		s := admission.NewHookScope(&admissionv1.MutatingWebhook{Rules: []admissionv1.RuleWithOperations{{
			Operations: []admissionv1.OperationType{"CREATE"}, Rule: admissionv1.Rule{APIGroups: []string{"example.com"}, APIVersions: []string{"*"}, Resources: []string{tc.resource}},
		}}})
		if got := s.About([]string{"elsewhere.com", "example.com"}, "tabs"); got != tc.about {
			t.Errorf("%s is about tabs: %v", tc.resource, got)
		}
		if s.About([]string{"elsewhere.com"}, "tabs") {
			t.Errorf("%s is about another group", tc.resource)
		}
		version, err := s.Match(t.Context(), tabs(t, tc.subresource, "one"))
		if err != nil || (version != "") != tc.match {
			t.Errorf("%s for %q: %q, %v", tc.resource, tc.subresource, version, err)
		}
	}
	none := admission.NewHookScope(&admissionv1.MutatingWebhook{})
	if version, err := none.Match(t.Context(), tabs(t, "", "one")); version != "" || err != nil || none.About([]string{"example.com"}, "tabs") {
		t.Errorf("a webhook without rules is asked at %q, %v", version, err)
	}
}
