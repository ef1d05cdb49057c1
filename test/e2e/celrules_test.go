package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// ruled adds validation rules to the spec of both versions.
func ruled(t testing.TB, rules string) func(object) {
	return func(crd object) {
		for _, v := range crd.At("spec.versions").([]any) {
			object(v.(map[string]any)).Set("schema.openAPIV3Schema", parse(t, `{"type":"object","properties":{"spec":{"type":"object","properties":{
				"replicas":{"type":"integer"},"limit":{"type":"integer"},"name":{"type":"string","maxLength":20}},"x-kubernetes-validations":`+rules+`}}}`))
		}
	}
}

func TestRules(t *testing.T) {
	s := harness.Shared(t)
	c := newCronTabs(t, s, ruled(t, `[
		{"rule":"!has(self.limit) || self.replicas <= self.limit","message":"more replicas than allowed"},
		{"rule":"self.replicas >= oldSelf.replicas","messageExpression":"'replicas cannot shrink to ' + (self.replicas == 1 ? 'one' : 'some')"},
		{"rule":"!has(self.name) || self.name.matches('^[a-z]+$')","reason":"FieldValueForbidden","fieldPath":".name","message":"letters only"}]`))
	one := c.path("v1", "one")
	c.run("CEL-01 rules run on every write", func(t *testing.T, c *cronTabs) {
		c.api.Post(c.list("v1"), c.object("v1", "one", `{"replicas":3,"limit":2}`)).WantStatus(422, "Invalid", `spec: Invalid value: `, "more replicas than allowed").
			Equal("details.causes.0.field", "spec").Equal("details.causes.0.reason", "FieldValueInvalid")
		c.api.Get(one).Want(404)
		c.api.Post(c.list("v1"), c.object("v1", "one", `{"replicas":2,"limit":2}`)).Want(201)
		c.api.Merge(one, `{"spec":{"replicas":3}}`).WantStatus(422, "Invalid", "more replicas than allowed")
		c.patch(one, jsonPatch, `[{"op":"replace","path":"/spec/limit","value":1}]`).WantStatus(422, "Invalid", "more replicas than allowed")
		o := c.api.Get(one).Want(200).Equal("spec.replicas", "2").Equal("spec.limit", "2").Object()
		c.api.Put(one, o.Set("spec.replicas", 5)).WantStatus(422, "Invalid", "more replicas than allowed")
	})
	c.run("CEL-01 oldSelf is what was there, and only then", func(t *testing.T, c *cronTabs) {
		c.api.Merge(one, `{"spec":{"replicas":1}}`).WantStatus(422, "Invalid", "replicas cannot shrink to one")
		c.api.Merge(one, `{"spec":{"replicas":4,"limit":9}}`).Want(200).Equal("spec.replicas", "4")
	})
	c.run("CEL-01 a rule names its field and reason", func(t *testing.T, c *cronTabs) {
		c.api.Merge(one, `{"spec":{"name":"A1"}}`).WantStatus(422, "Invalid", "spec.name: Forbidden: letters only").
			Equal("details.causes.0.field", "spec.name").Equal("details.causes.0.reason", "FieldValueForbidden")
	})
	c.run("CEL-20 rules that do not compile are refused", func(t *testing.T, c *cronTabs) {
		for rule, why := range map[string]string{
			"self.nothing == 1":              "undefined field 'nothing'",
			"self.replicas == 'text'":        "found no matching overload",
			"self.replicas":                  "must evaluate to a bool",
			"self.replicas ==":               "Syntax error",
			"unknown(self)":                  "undeclared reference to 'unknown'",
			"self.all(x, self.all(y, true))": "",
		} {
			crd := parse(t, strings.NewReplacer("GROUP", "rules."+c.group, "SCHEMA", cronTabSchema).Replace(cronTabCRD))
			ruled(t, `[{"rule":"`+rule+`"}]`)(crd)
			c.api.Post(crdPath, crd).WantStatus(422, "Invalid", "x-kubernetes-validations[0].rule", why)
		}
		c.api.Get(crdPath + "/crontabs.rules." + c.group).Want(404)
	})
}
