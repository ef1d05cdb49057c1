package policy

import (
	"strconv"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shapes implements Types: tabs at v1 and v2, of which v1 has a host and v2 a
// port; limits, of which nothing is known; and a hundred others.
type shapes struct{}

func (shapes) Kind(r schema.GroupVersionResource) (schema.GroupVersionKind, bool) {
	kind := map[string]string{"tabs": "Tab", "limits": "Limit"}[r.Resource]
	if strings.HasPrefix(r.Resource, "other") {
		kind = "Other" + r.Resource[5:]
	}
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: kind}, kind != "" && r.Group == "example.com"
}

func (shapes) Schema(kind schema.GroupVersionKind) *apiextensionsv1.JSONSchemaProps {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	whole := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"apiVersion": text, "kind": text, "metadata": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"name": text}},
	}}
	switch {
	case kind.Kind == "Limit":
		return nil
	case kind.Version == "v1":
		whole.Properties["host"] = text
	default:
		whole.Properties["port"] = apiextensionsv1.JSONSchemaProps{Type: "integer"}
	}
	return whole
}

func TestTypesOfExpressions_CEL20(t *testing.T) {
	rule := func(versions, resources string) string {
		return `"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["example.com"],"apiVersions":[` + versions + `],"resources":[` + resources + `]}]},`
	}
	one := rule(`"v1"`, `"tabs"`)
	for name, c := range map[string]struct {
		spec string
		want []string // field references, and parts of warnings
	}{
		"right":                               {one + `"validations":[{"expression":"object.host == 'a' && oldObject.metadata.name == request.name && namespaceObject.metadata.name == 'x'"}]`, nil},
		"an unknown field":                    {one + `"validations":[{"expression":"true"},{"expression":"object.port == 1"}]`, []string{"spec.validations[1].expression", "example.com/v1, Kind=Tab: ERROR: <input>:1:7: undefined field 'port'\n | object.port == 1\n | ......^\n"}},
		"what every object has":               {one + `"validations":[{"expression":"object.metadata.generateName == 'a'"}]`, nil},
		"of the old object":                   {one + `"validations":[{"expression":"oldObject.port == 1"}]`, []string{"spec.validations[0].expression", "undefined field 'port'"}},
		"another type":                        {one + `"validations":[{"expression":"object.host == 1"}]`, []string{"spec.validations[0].expression", "found no matching overload for '_==_' applied to '(string, int)'"}},
		"in a message":                        {one + `"validations":[{"expression":"true","messageExpression":"object.prot"}]`, []string{"spec.validations[0].messageExpression", "undefined field 'prot'"}},
		"any result will do":                  {one + `"validations":[{"expression":"object.host"}]`, nil},
		"through a variable":                  {one + `"variables":[{"name":"h","expression":"object.host"}],"validations":[{"expression":"variables.h == 1"}]`, []string{"spec.validations[0].expression", "(string, int)"}},
		"the authorizer":                      {one + `"validations":[{"expression":"authorizer.path('/x').check('get').allowed() && authorizer.requestResource.check('get').allowed()"}]`, nil},
		"several versions":                    {rule(`"v2","v1"`, `"tabs"`) + `"validations":[{"expression":"object.nothing"}]`, []string{"spec.validations[0].expression", "example.com/v1, Kind=Tab: ERROR", "\n\nexample.com/v2, Kind=Tab: ERROR"}},
		"one of several":                      {rule(`"v2","v1"`, `"tabs"`) + `"validations":[{"expression":"object.host"}]`, []string{"spec.validations[0].expression", "example.com/v2, Kind=Tab: ERROR"}},
		"wildcards":                           {rule(`"*"`, `"tabs"`) + `"validations":[{"expression":"object.nothing"}]`, nil},
		"all resources":                       {rule(`"v1"`, `"*"`) + `"validations":[{"expression":"object.nothing"}]`, nil},
		"subresources":                        {rule(`"v1"`, `"tabs/status"`) + `"validations":[{"expression":"object.nothing"}]`, nil},
		"what is not served":                  {rule(`"v1"`, `"nobody"`) + `"validations":[{"expression":"object.nothing"}]`, nil},
		"what nothing is known of":            {rule(`"v1"`, `"limits"`) + `"validations":[{"expression":"object.nothing"}]`, nil},
		"what nothing is known of, and a tab": {rule(`"v1"`, `"limits","tabs"`) + `"validations":[{"expression":"object.nothing"}]`, []string{"spec.validations[0].expression", "example.com/v1, Kind=Tab: ERROR"}},
		"no rules":                            {`"validations":[{"expression":"object.nothing"}]`, nil},
		"parameters":                          {one + `"paramKind":{"apiVersion":"example.com/v1","kind":"Tab"},"validations":[{"expression":"params.port == 1"}]`, []string{"spec.validations[0].expression", "undefined field 'port'"}},
		"parameters of any kind":              {one + `"paramKind":{"apiVersion":"example.com/v1","kind":"Limit"},"validations":[{"expression":"params.port == 1"}]`, nil},
		"a later rule":                        {strings.Replace(one, `"resourceRules":[`, `"resourceRules":[{"apiGroups":["*"],"apiVersions":["v1"],"resources":["tabs"]},`, 1) + `"validations":[{"expression":"object.nothing"}]`, []string{"spec.validations[0].expression", "example.com/v1"}},
	} {
		got, err := Check(decode[admissionv1.ValidatingAdmissionPolicy](t, "p", c.spec), shapes{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(c.want) == 0 {
			if len(got) != 0 {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].FieldRef != c.want[0] {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for _, part := range c.want[1:] {
			if !strings.Contains(got[0].Warning, part) {
				t.Errorf("%s: %q lacks %q", name, got[0].Warning, part)
			}
		}
		if name == "one of several" && strings.Contains(got[0].Warning, "v1") {
			t.Errorf("%s: %q", name, got[0].Warning)
		}
	}
}

func TestTypesOfARuleAreBounded(t *testing.T) {
	var m admissionv1.MatchResources
	r := admissionv1.NamedRuleWithOperations{}
	r.APIGroups, r.APIVersions = []string{"example.com"}, []string{"v1"}
	for _, c := range "abcdefghijklmnop" {
		r.Resources = append(r.Resources, "other"+string(c))
	}
	m.ResourceRules = append(m.ResourceRules, r, r)
	if got := kindsOf(&m, shapes{}); len(got) != maxTypes || got[0].Kind != "Othera" || got[9].Kind != "Otherj" {
		t.Errorf("got %v", got)
	}
}

// counted is shapes that counts how often it is asked for a kind.
type counted struct {
	shapes
	asked *int
}

func (c counted) Kind(r schema.GroupVersionResource) (schema.GroupVersionKind, bool) {
	*c.asked++
	return c.shapes.Kind(r)
}

// A policy that fits into an object can name more resources than anybody could
// look up.
func TestNamesThatAreLookedUpAreBounded_CEL20(t *testing.T) {
	var many []string
	for i := range 1000 {
		many = append(many, "x"+strings.Repeat("y", i%7)+strconv.Itoa(i))
	}
	p := &admissionv1.ValidatingAdmissionPolicy{Spec: admissionv1.ValidatingAdmissionPolicySpec{
		Validations: []admissionv1.Validation{{Expression: "object.nothing"}}, MatchConstraints: &admissionv1.MatchResources{},
	}}
	for range 3 {
		p.Spec.MatchConstraints.ResourceRules = append(p.Spec.MatchConstraints.ResourceRules, admissionv1.NamedRuleWithOperations{
			RuleWithOperations: admissionv1.RuleWithOperations{Rule: admissionv1.Rule{APIGroups: many, APIVersions: many, Resources: many[:100]}},
		})
	}
	asked := 0
	warnings, err := Check(p, counted{asked: &asked})
	if err != nil || len(warnings) != 0 || asked != maxNames {
		t.Errorf("%d warnings, %v, asked %d times", len(warnings), err, asked)
	}
}
