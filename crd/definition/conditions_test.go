package definition

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	before = metav1.NewTime(time.Unix(1000, 0))
	now    = metav1.NewTime(time.Unix(2000, 0))
)

// named is a definition that asks for those names.
func named(name, kind string, short ...string) *apiextensionsv1.CustomResourceDefinition {
	c := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name + ".example.com"}}
	c.Spec.Group = "example.com"
	c.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: name, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List", ShortNames: short, Categories: []string{"all"},
	}
	c.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
	}}
	c.Status.StoredVersions = []string{"v1"}
	return c
}

type list = []*apiextensionsv1.CustomResourceDefinition

// settle gives c the status that Conditions says.
func settle(c *apiextensionsv1.CustomResourceDefinition, others list, at metav1.Time) bool {
	status, changed := Conditions(c, others, at)
	c.Status = status
	return changed
}

// summary is type=status/reason of each condition.
func summary(c *apiextensionsv1.CustomResourceDefinition) string {
	var out []string
	for _, cond := range c.Status.Conditions {
		out = append(out, string(cond.Type)+"="+string(cond.Status)+"/"+cond.Reason)
	}
	return strings.Join(out, " ")
}

const good = "NamesAccepted=True/NoConflicts Established=True/InitialNamesAccepted"

func TestConditions_new_CRD01(t *testing.T) {
	c := named("foos", "Foo", "f")
	if Served(c) {
		t.Error("served before anything was accepted")
	}
	input, _ := json.Marshal(c)
	status, changed := Conditions(c, list{c, named("others", "Other", "f")}, now)
	if after, _ := json.Marshal(c); string(after) != string(input) {
		t.Error("the input was changed")
	}
	c.Status = status
	if !changed || summary(c) != good || !Served(c) {
		t.Errorf("changed %v, %s", changed, summary(c))
	}
	n := c.Status.AcceptedNames
	if n.Plural != "foos" || n.Singular != "foo" || n.Kind != "Foo" || n.ListKind != "FooList" || n.ShortNames[0] != "f" || n.Categories[0] != "all" {
		t.Errorf("names: %+v", n)
	}
	if settle(c, list{c}, before) {
		t.Error("it changes once more")
	}
}

func TestConditions_conflicts(t *testing.T) {
	taken := named("bars", "Bar", "b", "ba")
	settle(taken, nil, before)
	for _, c := range []struct {
		want, message string
		def           *apiextensionsv1.CustomResourceDefinition
		asked         func(*apiextensionsv1.CustomResourceDefinitionNames)
	}{
		{"PluralConflict", `"bar" is already in use`, named("bar", "Foo"), nil},
		{"SingularConflict", `"bars" is already in use`, named("foos", "Foo"), func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Singular = "bars" }},
		{"ShortNamesConflict", `"b" is already in use`, named("foos", "Foo", "f", "b"), nil},
		{"ShortNamesConflict", `["b" is already in use, "ba" is already in use]`, named("foos", "Foo", "b", "ba"), nil},
		{"KindConflict", `"Bar" is already in use`, named("foos", "Foo"), func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Kind = "Bar" }},
		{"ListKindConflict", `"BarList" is already in use`, named("foos", "Bar"), nil},
	} {
		t.Run(c.want, func(t *testing.T) {
			if c.asked != nil {
				c.asked(&c.def.Spec.Names)
			}
			settle(c.def, list{taken, c.def}, now)
			want := "NamesAccepted=False/" + c.want + " Established=False/NotAccepted"
			if summary(c.def) != want || c.def.Status.Conditions[0].Message != c.message {
				t.Errorf("got %s (%s)", summary(c.def), c.def.Status.Conditions[0].Message)
			}
			if Served(c.def) {
				t.Error("it is served")
			}
			// The names become free.
			if !settle(c.def, list{c.def}, now) || summary(c.def) != good {
				t.Errorf("afterwards %s", summary(c.def))
			}
		})
	}
}

func TestConditions_otherGroup(t *testing.T) {
	taken := named("foos", "Foo")
	settle(taken, nil, before)
	taken.Name, taken.Spec.Group = "foos.example.org", "example.org"
	c := named("foos", "Foo")
	if settle(c, list{taken}, now); summary(c) != good {
		t.Errorf("got %s", summary(c))
	}
}

// TestConditions_laterConflict shows that what was accepted stays served.
func TestConditions_laterConflict(t *testing.T) {
	taken := named("bars", "Bar", "b")
	settle(taken, nil, before)
	c := named("foos", "Foo", "f")
	settle(c, list{taken}, before)
	c.Spec.Names.ShortNames = []string{"b"}
	settle(c, list{taken}, now)
	if summary(c) != "NamesAccepted=False/ShortNamesConflict Established=True/InitialNamesAccepted" || !Served(c) {
		t.Errorf("got %s", summary(c))
	}
	if n := c.Status.AcceptedNames.ShortNames; len(n) != 1 || n[0] != "f" {
		t.Errorf("short names: %v", n)
	}
	for i, want := range []metav1.Time{now, before} {
		if got := c.Status.Conditions[i].LastTransitionTime; !got.Equal(&want) {
			t.Errorf("%s since %s", c.Status.Conditions[i].Type, got)
		}
	}
	// A shared short name that was ours all along is no conflict.
	c.Spec.Names.ShortNames = []string{"f"}
	if settle(c, list{taken}, now); summary(c) != good {
		t.Errorf("restored: %s", summary(c))
	}
}

func TestConditions_approval(t *testing.T) {
	for _, c := range []struct{ annotation, want, message string }{
		{"", "False/MissingAnnotation", "protected groups must have approval annotation"},
		{"https://example.com/pull/1", "True/ApprovedAnnotation", "approved in https://example.com/pull/1"},
		{"unapproved, test", "False/UnapprovedAnnotation", `not approved: "unapproved, test"`},
		{"yes", "False/InvalidAnnotation", "with either a URL or a reason starting with"},
	} {
		def := named("foos", "Foo")
		def.Spec.Group = "test.k8s.io"
		def.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: c.annotation}
		settle(def, nil, now)
		if want := good + " KubernetesAPIApprovalPolicyConformant=" + c.want; summary(def) != want {
			t.Errorf("%q: got %s", c.annotation, summary(def))
		}
		if m := def.Status.Conditions[2].Message; !strings.Contains(m, c.message) {
			t.Errorf("%q: %s", c.annotation, m)
		}
	}
}

func TestConditions_schema(t *testing.T) {
	c := named("foos", "Foo")
	c.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = map[string]apiextensionsv1.JSONSchemaProps{"a": {}}
	settle(c, nil, now)
	if summary(c) != good+" NonStructuralSchema=True/Violations" {
		t.Fatalf("got %s", summary(c))
	}
	if m := c.Status.Conditions[2].Message; m != "spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields" {
		t.Errorf("message: %s", m)
	}
	c.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = nil
	if !settle(c, nil, now) || summary(c) != good {
		t.Errorf("mended: %s", summary(c))
	}
	c.Spec.PreserveUnknownFields = true
	settle(c, nil, now)
	if m := c.Status.Conditions[2].Message; m != "spec.preserveUnknownFields: Invalid value: true: must be false" {
		t.Errorf("message: %s", m)
	}
}

func TestConditions_caBundle(t *testing.T) {
	c := named("foos", "Foo")
	c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: "Webhook", Webhook: &apiextensionsv1.WebhookConversion{
		ClientConfig: &apiextensionsv1.WebhookClientConfig{CABundle: []byte("not PEM")},
	}}
	settle(c, nil, now)
	if summary(c) != "NamesAccepted=True/NoConflicts Established=False/InvalidCABundle" || Served(c) {
		t.Errorf("got %s", summary(c))
	}
	c.Spec.Conversion.Webhook.ClientConfig.CABundle = nil
	if settle(c, nil, now); summary(c) != good {
		t.Errorf("mended: %s", summary(c))
	}
}

func TestConditions_conversionsWithoutABundle(t *testing.T) {
	u := "wasm://m"
	for name, conv := range map[string]*apiextensionsv1.CustomResourceConversion{
		"none":             nil,
		"no webhook":       {Strategy: "None"},
		"no configuration": {Strategy: "Webhook", Webhook: &apiextensionsv1.WebhookConversion{}},
		"a module":         {Strategy: "Webhook", Webhook: &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &u}}},
	} {
		c := named("foos", "Foo")
		c.Spec.Conversion = conv
		if settle(c, nil, now); summary(c) != good || !Served(c) {
			t.Errorf("%s: %s", name, summary(c))
		}
	}
}

// Versions without a schema, or with one that nobody can read, hide nothing of
// those after them.
func TestConditions_everySchemaIsChecked(t *testing.T) {
	c := named("foos", "Foo")
	version := func(s *apiextensionsv1.CustomResourceValidation) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{Name: "v2", Schema: s}
	}
	unreadable := &apiextensionsv1.JSONSchemaProps{Default: &apiextensionsv1.JSON{Raw: []byte("{")}}
	c.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{
		version(nil), version(&apiextensionsv1.CustomResourceValidation{}), version(&apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: unreadable}),
	}
	if settle(c, nil, now); summary(c) != good {
		t.Fatalf("got %s", summary(c))
	}
	c.Spec.Versions = append(c.Spec.Versions, version(&apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{}}))
	settle(c, nil, now)
	if summary(c) != good+" NonStructuralSchema=True/Violations" {
		t.Fatalf("got %s", summary(c))
	}
	if m := c.Status.Conditions[2].Message; m != "spec.versions[3].schema.openAPIV3Schema.type: Required value: must not be empty at the root" {
		t.Errorf("message: %s", m)
	}
}

func TestConditions_everyShortNameIsAsked(t *testing.T) {
	c, other := named("foos", "Foo", "f"), named("others", "Other", "taken")
	settle(c, list{c, other}, now)
	settle(other, list{c, other}, now)
	c.Spec.Names.ShortNames = []string{"f", "taken"}
	settle(c, list{c, other}, now)
	if got := c.Status.Conditions[0]; got.Reason != "ShortNamesConflict" || got.Message != `"taken" is already in use` || len(c.Status.AcceptedNames.ShortNames) != 1 {
		t.Errorf("got %+v, accepted %v", got, c.Status.AcceptedNames.ShortNames)
	}
}

func TestMarkTerminatingOnce(t *testing.T) {
	c := named("foos", "Foo")
	if !MarkTerminating(c, before) || MarkTerminating(c, now) || !c.DeletionTimestamp.Equal(&before) {
		t.Errorf("deleted at %v", c.DeletionTimestamp)
	}
}
