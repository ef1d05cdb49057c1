package lint

import (
	"strings"
	"testing"
)

// Two schemas of one field: what the second breaks of the first.
func TestPairsOfSchemas(t *testing.T) {
	const definition = "metadata: {name: x.example.com}\nspec: {versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {f: FIELD}}}}]}\n"
	for _, c := range []struct{ was, is, want string }{
		{"{type: string, enum: [a]}", "{type: string}", ""},
		{"{x-kubernetes-preserve-unknown-fields: true}", "{type: string}", "f: the type was none and is string"},
		{"{type: object, properties: {a: {type: string}}}", "{type: object, additionalProperties: true}", ""},
		{"{type: object, properties: {a: {type: string}}}", "{type: object, additionalProperties: false}", "f.a: the field is gone: it is dropped from what clients send"},
		{"{type: object, additionalProperties: {type: string}}", "{type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}", ""},
		{"{type: object, additionalProperties: {type: string}}", "{type: object, properties: {a: {type: integer}}, additionalProperties: {type: string}}", "f.a: the type was string and is integer"},
		{"{type: object, additionalProperties: true}", "{type: object, properties: {a: {type: integer}}, additionalProperties: true}", "f.a: anything was kept there, and a schema is there now"},
		{"{type: object, additionalProperties: false}", "{type: object, properties: {a: {type: integer}}}", ""},
		{"{type: object, x-kubernetes-embedded-resource: true}", "{type: object, x-kubernetes-embedded-resource: true}", ""},
		{"{type: object, x-kubernetes-embedded-resource: true, properties: {kind: {type: string}}}", "{type: object, properties: {kind: {type: string}, apiVersion: {type: string}}}", "f.metadata: the field is gone: it is dropped from what clients send"},
		{"{type: object, x-kubernetes-embedded-resource: true}", "{type: object, x-kubernetes-preserve-unknown-fields: true}", ""},
		{"{type: object}", "{type: object, x-kubernetes-map-type: granular}", ""}, {"{type: object, x-kubernetes-map-type: atomic}", "{type: object}", "f: the map was atomic and is granular: what is applied merges otherwise"},
		{"{type: string, enum: [a]}", "{type: string, enum: [b]}", `f: the value "a" is not allowed any more`},
		{"{type: integer, multipleOf: 2}", "{type: integer, multipleOf: 2}", ""},
		{"{type: integer, multipleOf: 2}", "{type: integer, multipleOf: 3}", "f: has to be a multiple of 3 now"},
		{"{type: integer, multipleOf: 2}", "{type: integer}", ""},
		{"{type: object, additionalProperties: true}", "{type: object}", "f[*]: fields with any name are no longer kept"},
		{"{type: object, additionalProperties: false}", "{type: object}", ""},
		{"{type: object, additionalProperties: {type: string}}", "{type: object}", "f[*]: fields with any name are no longer kept"},
		{"{type: object, additionalProperties: {type: string}}", "{type: object, x-kubernetes-preserve-unknown-fields: true}", ""},
		{"{type: object, additionalProperties: true}", "{type: object, additionalProperties: {type: string}}", "f[*]: anything was allowed, and a schema is there now"},
		{"{type: object, additionalProperties: false}", "{type: object, additionalProperties: {type: string}}", ""},
		{"{type: object, additionalProperties: {type: string}}", "{type: object, additionalProperties: true}", ""},
		{"{type: object, additionalProperties: true}", "{type: object, additionalProperties: true}", ""},
		{"{type: array}", "{type: array, items: {type: string}}", ""}, {"{type: array, items: {type: string}}", "{type: array}", ""},
		{"{type: string, x-kubernetes-validations: [{rule: a}, {rule: b}]}", "{type: string, x-kubernetes-validations: [{rule: b}]}", ""},
		{"{type: string, x-kubernetes-validations: [{rule: a}]}", "{type: string, x-kubernetes-validations: [{rule: a}, {rule: b}]}", "f: the rule is new: b"},
		{"{type: string, pattern: a, format: date}", "{type: string}", ""},
		{"{type: string, not: {type: integer}}", "{type: string}", ""}, {"{type: string}", "{type: string, not: {enum: [a]}}", "f: not is another one"},
		{"{type: array, uniqueItems: true}", "{type: array, uniqueItems: true}", ""}, {"{type: number}", "{type: integer}", "f: the type was number and is integer"},
	} {
		var got []string
		for _, f := range Compare(read(t, strings.Replace(definition, "FIELD", c.was, 1)), read(t, strings.Replace(definition, "FIELD", c.is, 1))) {
			got = append(got, f.Path+": "+f.What)
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s and then %s: %q, want %q", c.was, c.is, text, c.want)
		}
	}
}

// A version that is deprecated needs another that is as stable; where one of two has no
// schema there is nothing to compare.
func TestVersionsThatAreDeprecated(t *testing.T) {
	versions := func(texts ...string) string {
		return "metadata: {name: x.example.com}\nspec: {versions: [" + strings.Join(texts, ", ") + "]}\n"
	}
	const stored = "served: true, storage: true"
	for _, c := range []struct{ was, is, want string }{
		{versions("{name: v1beta1, "+stored+"}", "{name: v1beta2, served: true, storage: false}"), versions("{name: v1beta1, "+stored+", deprecated: true}", "{name: v1beta2, served: true, storage: false}"), ""},
		{versions("{name: v1beta1, "+stored+"}", "{name: v1alpha1, served: true, storage: false}"), versions("{name: v1beta1, "+stored+", deprecated: true}", "{name: v1alpha1, served: true, storage: false}"), "3"},
		{versions("{name: v1, "+stored+"}", "{name: v2, served: true, storage: false}"), versions("{name: v1, "+stored+", deprecated: true}", "{name: v2, served: true, storage: false}"), ""},
		{versions("{name: v1, "+stored+"}", "{name: v2, served: false, storage: false}"), versions("{name: v1, "+stored+", deprecated: true}", "{name: v2, served: false, storage: false}"), "3"},
		{versions("{name: v1, " + stored + ", schema: {openAPIV3Schema: {type: object}}}"), versions("{name: v1, " + stored + ", schema: {}}"), ""},
		{versions("{name: v1, " + stored + ", schema: {}}"), versions("{name: v1, " + stored + ", schema: {openAPIV3Schema: {type: object}}}"), ""},
		{versions("{name: v1, " + stored + "}"), versions("{name: v1, " + stored + ", schema: {openAPIV3Schema: {type: object}}}"), ""},
		{versions("{name: v1, " + stored + ", schema: {openAPIV3Schema: {type: object}}}"), versions("{name: v1, " + stored + "}"), ""},
	} {
		var rules []string
		for _, f := range Compare(read(t, c.was), read(t, c.is)) {
			rules = append(rules, f.Rule)
		}
		if got := strings.Join(rules, " "); got != c.want {
			t.Errorf("%s and then %s: rules %q, want %q", c.was, c.is, got, c.want)
		}
	}
}

// Of versions that are not served, or will not be, only what is dropped matters, where objects
// are stored at them: by the status, or else by the definition.
func TestVersionsThatAreStored(t *testing.T) {
	const definition = "metadata: {name: x.example.com}\nspec: {versions: [{name: v1alpha1, served: SERVED, storage: STORAGE, schema: {openAPIV3Schema: {type: object, properties: {FIELDS}}}}]}\nstatus: {storedVersions: [STORED]}\n"
	for _, c := range []struct{ served, storage, stored, willBe, want string }{
		{"false", "true", "", "false", "a: the field is gone: it is dropped from what is stored"},
		{"false", "true", "", "true", "a: the field is gone: it is dropped from what is stored"},
		{"true", "true", "", "false", "a: the field is gone: it is dropped from what is stored"},
		{"true", "true", "", "true", "a: the field is gone: it is dropped from what clients send\nb: the type was string and is integer"},
		{"false", "false", "v1alpha1", "false", "a: the field is gone: it is dropped from what is stored"},
		{"false", "false", "v1", "false", ""}, {"false", "false", "", "false", ""}, {"true", "false", "", "false", ""},
	} {
		was := strings.NewReplacer("SERVED", c.served, "STORAGE", c.storage, "STORED", c.stored, "FIELDS", "a: {type: string}, b: {type: string}").Replace(definition)
		is := strings.NewReplacer("SERVED", c.willBe, "STORAGE", c.storage, "STORED", c.stored, "FIELDS", "b: {type: integer}").Replace(definition)
		var got []string
		for _, f := range Compare(read(t, was), read(t, is)) {
			if f.Version == "v1alpha1" {
				got = append(got, f.Path+": "+f.What)
			}
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%+v: %q", c, text)
		}
	}
}
