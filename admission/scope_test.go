package admission_test

import (
	"encoding/json"
	"errors"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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

// A selector of namespaces is asked of the labels that a namespace is going to have, or has
// where it is only deleted, and never of what is in none.
func TestNamespacesThatAreSelected(t *testing.T) {
	selecting := &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}}
	namespace := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	to := func(team string) map[string]any {
		return admissiontest.Tree(t, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns","labels":{"team":"`+team+`"}}}`)
	}
	for name, c := range map[string]struct {
		change func(a *admissiontest.Attributes)
		want   string // "" for not selected
		fails  bool
	}{
		"in it":                  {func(*admissiontest.Attributes) {}, "v1", false},
		"in another":             {func(a *admissiontest.Attributes) { a.Namespaces = admissiontest.Namespaces{"ns": {"team": "b"}} }, "", false},
		"in none":                {func(a *admissiontest.Attributes) { a.Namespace = "" }, "v1", false},
		"in one that is gone":    {func(a *admissiontest.Attributes) { a.Namespace = "gone" }, "", true},
		"in one nobody can read": {func(a *admissiontest.Attributes) { a.Namespace = "broken" }, "", true},
		"it comes to it":         {func(a *admissiontest.Attributes) { a.Resource, a.After, a.Before = namespace, to("a"), to("b") }, "v1", false},
		"it leaves":              {func(a *admissiontest.Attributes) { a.Resource, a.After, a.Before = namespace, to("b"), to("a") }, "", false},
		"it is deleted": {func(a *admissiontest.Attributes) {
			a.Resource, a.After, a.Before, a.Operation = namespace, nil, to("b"), admission.Delete
		}, "v1", false},
		"its status": {func(a *admissiontest.Attributes) { a.Resource, a.After, a.Subresource = namespace, to("b"), "status" }, "v1", false},
	} {
		a := tabs(t, "", "ns")
		c.change(a)
		got, err := admission.NewScope(selecting).Match(t.Context(), a)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	scope := admissionv1.ScopeType("Odd")
	odd := &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{"*"}, Rule: admissionv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}, Scope: &scope}}}}}
	if got, err := admission.NewScope(odd).Match(t.Context(), tabs(t, "", "one")); got != "" || err != nil {
		t.Errorf("an unknown scope means %q, %v", got, err)
	}
}

// unlabelled are states whose labels cannot be read.
type unlabelled struct{ *admissiontest.Attributes }

func (unlabelled) GetLabels() ([]labels.Set, error) { return nil, errors.New("no labels") }

// What cannot be asked of a selector is not let through.
func TestLabelsThatCannotBeRead(t *testing.T) {
	a := unlabelled{tabs(t, "", "one")}
	gold := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
	if got, err := admission.NewScope(&admissionv1.MatchResources{ObjectSelector: gold}).Match(t.Context(), a); err == nil || got != "" {
		t.Errorf("of an object: %q, %v", got, err)
	}
	a.Resource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	if got, err := admission.NewScope(&admissionv1.MatchResources{NamespaceSelector: gold}).Match(t.Context(), a); err == nil || got != "" {
		t.Errorf("of a namespace: %q, %v", got, err)
	}
}
