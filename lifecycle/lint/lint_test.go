package lint

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const before = `
metadata: {name: crontabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: CronTab, plural: crontabs}
  versions:
  - {name: v1beta1, served: true, storage: false, deprecated: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}}
    selectableFields: [{jsonPath: .spec.text}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [count]
            properties:
              count: {type: integer, maximum: 10, minimum: 1}
              text: {type: string, maxLength: 10, default: a, nullable: true}
              free: {type: string}
              any: {x-kubernetes-int-or-string: true}
              kept: {type: object, x-kubernetes-preserve-unknown-fields: true}
              named: {type: object, properties: {a: {type: string}}}
              list: {type: array, maxItems: 5, items: {type: string, enum: [a, b]}, x-kubernetes-list-type: set}
              map: {type: object, additionalProperties: {type: integer, minimum: 0}}
  - {name: v1alpha2, served: false, storage: false, schema: {openAPIV3Schema: {type: object, properties: {old: {type: string}, more: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}
status: {storedVersions: [v1, v1beta1, v1alpha2]}
`

func read(t *testing.T, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict([]byte(text), &crd); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return &crd
}

// TestCompare changes the definition in one place, and finds what that breaks or that
// it breaks nothing.
func TestCompare(t *testing.T) {
	const beta = "  - {name: v1beta1, served: true, storage: false, deprecated: true, schema: {openAPIV3Schema: {type: object}}}\n"
	const alpha = "  - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n"
	for _, test := range []struct{ replace, by, want string }{
		{"", "", ""},
		{"scope: Namespaced", "scope: Cluster", " spec.scope rule 1: was Namespaced and is Cluster"},
		{"kind: CronTab", "kind: Tab", " spec.names.kind rule 1: was CronTab and is Tab"},
		{beta, strings.Replace(beta, "served: true", "served: false", 1), ""},
		{beta, "", "v1beta1  rule 4a: is gone, and objects may be stored at it: migrate them, then take it out of status.storedVersions"},
		{alpha, "", ""},
		{"  - {name: v2, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}\n", "", ""},
		{"    served: true\n", "    served: false\n", "v1  rule 4a: is stable, and served no longer"},
		{"    served: true\n", "    served: true\n    deprecated: true\n", "v1  rule 3: is deprecated, and no version as stable is served instead"},
		{"status: {}, ", "", "v1 subresources.status rule 1: was there, which changes who writes the status"},
		{", scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}", "", "v1 subresources.scale rule 1: is gone"},
		{"[{jsonPath: .spec.text}]", "[]", "v1 .spec.text rule 1: is no longer a field to select by"},
		{"              free: {type: string}\n", "", "v1 spec.free rule 1: the field is gone: it is dropped from what clients send"},
		{"free: {type: string}", "free: {type: boolean}", "v1 spec.free rule 1: the type was string and is boolean"},
		{"count: {type: integer", "count: {type: number", ""},
		{"required: [count]", "required: [count, free]", "v1 spec.free rule 1: is required now"},
		{"required: [count]", "required: [count, text]", ""},
		{"required: [count]", "required: []", ""},
		{"maximum: 10", "maximum: 11", ""}, {"maximum: 10, ", "", ""}, {"minimum: 1}", "minimum: 0}", ""},
		{"maximum: 10", "maximum: 9", "v1 spec.count rule 1: maximum was 10 and is 9"},
		{"minimum: 1}", "minimum: 2}", "v1 spec.count rule 1: minimum was 1 and is 2"},
		{"minimum: 1}", "minimum: 1, exclusiveMinimum: true}", "v1 spec.count rule 1: exclusiveMinimum is there now"},
		{"minimum: 1}", "minimum: 1, multipleOf: 2}", "v1 spec.count rule 1: has to be a multiple of 2 now"},
		{"free: {type: string}", "free: {type: string, maxLength: 100}", "v1 spec.free rule 1: maxLength is 100 now"},
		{"free: {type: string}", "free: {type: string, pattern: ^a}", "v1 spec.free rule 1: the pattern was none and is ^a"},
		{"free: {type: string}", "free: {type: string, format: date}", "v1 spec.free rule 1: the format was none and is date"},
		{"free: {type: string}", "free: {type: string, enum: [a]}", "v1 spec.free rule 1: only some values are allowed now"},
		{"free: {type: string}", "free: {type: string, x-kubernetes-validations: [{rule: self != ''}]}", "v1 spec.free rule 1: the rule is new: self != ''"},
		{"free: {type: string}", "free: {type: string, default: x}", `v1 spec.free rule 1: the default was none and is "x"`},
		{"default: a", "default: b", `v1 spec.text rule 1: the default was "a" and is "b"`},
		{"free: {type: string}", "free: {type: string, anyOf: [{minLength: 1}]}", "v1 spec.free rule 1: anyOf is another one"},
		{", nullable: true", "", "v1 spec.text rule 1: was nullable, and no longer is"},
		{"{x-kubernetes-int-or-string: true}", "{type: string}", "v1 spec.any rule 1: the type was none and is string\nv1 spec.any rule 1: was an integer or a string, and no longer is"},
		{", x-kubernetes-preserve-unknown-fields: true", "", "v1 spec.kept rule 1: fields that the schema does not have were kept, and are dropped now"},
		{"enum: [a, b]", "enum: [a]", `v1 spec.list[] rule 1: the value "b" is not allowed any more`},
		{"enum: [a, b]", "enum: [a, b, c]", ""},
		{"maxItems: 5", "maxItems: 4", "v1 spec.list rule 1: maxItems was 5 and is 4"},
		{", x-kubernetes-list-type: set", "", "v1 spec.list rule 1: the list was of the type set [] and is of atomic []: what is applied merges otherwise"},
		{"minimum: 0}", "minimum: 1}", "v1 spec.map[*] rule 1: minimum was 0 and is 1"},
		{", additionalProperties: {type: integer, minimum: 0}", "", "v1 spec.map[*] rule 1: fields with any name are no longer kept"},
		{"free: {type: string}", "free: {type: string}\n              more: {type: string}", ""},
		{"old: {type: string}, ", "", "v1alpha2 old rule 1: the field is gone: it is dropped from what is stored"},
		{"old: {type: string}, ", "old: {type: integer}, ", ""}, // which nobody reads at it
		{"preserve-unknown-fields: true}}", "preserve-unknown-fields: false}}", "v1alpha2 more rule 1: fields that the schema does not have were kept, and are dropped now"},
		{"preserve-unknown-fields: true}}", "preserve-unknown-fields: true, properties: {a: {type: object}, b: {type: string}}}}", "v1alpha2 more.a rule 1: anything was kept there, and what the schema does not have is dropped now"},
		{"preserve-unknown-fields: true}\n", "preserve-unknown-fields: true, properties: {a: {type: boolean}}}\n", "v1 spec.kept.a rule 1: anything was kept there, and a schema is there now"},
		{"preserve-unknown-fields: true}\n", "preserve-unknown-fields: true, properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}\n", ""},
		{"named: {type: object,", "named: {type: object, x-kubernetes-embedded-resource: true,", "v1 spec.named rule 1: is a whole object now: apiVersion and kind are required"},
		{"named: {type: object,", "named: {type: object, x-kubernetes-map-type: atomic,", "v1 spec.named rule 1: the map was granular and is atomic: what is applied merges otherwise"},
		{"named: {type: object, properties: {a: {type: string}}}", "named: {type: object, additionalProperties: {type: string}}", ""},
		{"named: {type: object, properties: {a: {type: string}}}", "named: {type: object, additionalProperties: {type: integer}}", "v1 spec.named.a rule 1: the type was string and is integer"},
	} {
		after := strings.Replace(before, test.replace, test.by, 1)
		if after == before && test.replace != "" {
			t.Errorf("%q is not there", test.replace)
		}
		var got []string
		for _, f := range Compare(read(t, before), read(t, after)) {
			got = append(got, f.Version+" "+f.Path+" rule "+f.Rule+": "+f.What)
		}
		slices.Sort(got)
		if text := strings.Join(got, "\n"); text != test.want {
			t.Errorf("%q instead of %q:\n got %s\nwant %s", test.by, test.replace, text, test.want)
		}
	}
}

// The version that objects are stored at moves to one that was there before.
func TestStorage(t *testing.T) {
	move := func(text, from, to string) string {
		text = strings.Replace(text, "name: "+from+", served: true, storage: true", "name: "+from+", served: true, storage: false", 1)
		return strings.Replace(text, "name: "+to+", served: true, storage: false", "name: "+to+", served: true, storage: true", 1)
	}
	const both = `
metadata: {name: x.example.com}
spec:
  versions:
  - {name: v1beta1, served: true, storage: true}
  - {name: v1, served: true, storage: false}
`
	only := strings.Replace(both, "  - {name: v1, served: true, storage: false}\n", "", 1)
	for name, test := range map[string]struct{ was, is, want string }{
		"to one that was there":     {both, move(both, "v1beta1", "v1"), ""},
		"to a new one":              {only, move(both, "v1beta1", "v1"), "4b"},
		"not at all":                {only, both, ""},
		"to a new one, from alpha":  {strings.ReplaceAll(only, "beta", "alpha"), strings.ReplaceAll(move(both, "v1beta1", "v1"), "beta", "alpha"), ""},
		"to the only one, the next": {move(both, "v1beta1", "v1"), strings.Replace(move(both, "v1beta1", "v1"), "  - {name: v1beta1, served: true, storage: false}\n", "", 1), "4a"},
	} {
		var rules []string
		for _, f := range Compare(read(t, test.was), read(t, test.is)) {
			rules = append(rules, f.Rule)
		}
		if got := strings.Join(rules, " "); got != test.want {
			t.Errorf("%s: rules %q, want %q", name, got, test.want)
		}
	}
	if got := Compare(read(t, both), nil); len(got) != 1 {
		t.Errorf("gone: %v", got)
	}
}
