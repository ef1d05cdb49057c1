package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/object"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"
)

// A rule says yes to exactly what the library accepts, for
// schemas that it is sure of: at every bound, on both sides of it.
func TestQuickValidationIsTheLibrarys_CRD05(t *testing.T) {
	schemas := []string{
		`{type: string}`, `{type: string, nullable: true}`, `{type: string, minLength: 2}`, `{type: string, maxLength: 2}`, `{type: string, minLength: 2, maxLength: 2}`,
		`{type: string, pattern: "^a+$"}`, `{type: string, enum: [a, aa]}`, `{type: string, enum: [aa], nullable: true}`, `{type: string, format: ipv4}`, `{type: string, format: date-time}`,
		`{type: integer}`, `{type: integer, minimum: 2}`, `{type: integer, maximum: 2}`, `{type: integer, minimum: 2, exclusiveMinimum: true}`, `{type: integer, maximum: 2, exclusiveMaximum: true}`,
		`{type: integer, format: int32}`, `{type: integer, format: int64}`, `{type: integer, nullable: true, minimum: -1}`,
		`{type: number}`, `{type: number, minimum: 2}`, `{type: number, maximum: 2}`, `{type: number, minimum: 2, exclusiveMinimum: true}`, `{type: number, maximum: 2, exclusiveMaximum: true}`,
		`{type: boolean}`, `{type: boolean, nullable: true}`,
		`{type: array, items: {type: integer}}`, `{type: array, minItems: 1, items: {type: integer}}`, `{type: array, maxItems: 1, items: {type: integer, maximum: 2}}`, `{type: array, nullable: true, items: {type: string}}`,
		`{type: object}`, `{type: object, required: [a]}`, `{type: object, required: [a, b], properties: {a: {type: integer}}}`, `{type: object, minProperties: 1}`, `{type: object, maxProperties: 1}`,
		`{type: object, properties: {a: {type: integer, maximum: 2}, b: {type: string}}}`, `{type: object, additionalProperties: {type: integer, minimum: 2}}`, `{type: object, nullable: true, additionalProperties: {type: string}}`,
		`{type: object, additionalProperties: true}`,
		`{x-kubernetes-int-or-string: true}`, `{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}`, `{x-kubernetes-preserve-unknown-fields: true}`,
		`{type: string, allOf: [{minLength: 1}, {maxLength: 2}]}`, `{type: string, anyOf: [{maxLength: 1}, {minLength: 3}]}`, `{type: string, allOf: [{enum: [a]}]}`,
		`{type: string, oneOf: [{maxLength: 1}, {minLength: 3}]}`, `{type: string, not: {maxLength: 1}}`, `{type: integer, multipleOf: 2}`, `{type: integer, enum: [2, 3]}`, `{type: number, minimum: 1.5}`, `{type: integer, maximum: 4294967296}`, `{type: string, format: nonsense}`,
	}
	values := []string{
		`null`, `true`, `false`, `""`, `"a"`, `"aa"`, `"aaa"`, `"éé"`, `"b"`, `"1.2.3.4"`, `"2020-01-01T00:00:00Z"`,
		`-2`, `-1`, `0`, `1`, `2`, `3`, `4`, `2147483646`, `2147483647`, `2147483648`, `-2147483648`, `-2147483649`, `4294967296`, `4294967297`, `9223372036854775807`,
		`1.5`, `1.9`, `2.0`, `2.1`, `1e3`,
		`[]`, `[1]`, `[2]`, `[3]`, `[1,2]`, `["a"]`, `[null]`, `[1,"a"]`, `{}`, `{"a":1}`, `{"a":2}`, `{"a":3}`, `{"b":"x"}`, `{"b":7}`, `{"a":1,"b":"x"}`, `{"a":null}`, `{"a":"x"}`, `{"a":2,"c":2}`, `{"a":2,"b":2,"c":2}`,
	}
	sure := 0
	for _, y := range schemas {
		library, rule := compile(t, fmt.Sprintf("{type: object, properties: {v: %s}}", y))
		if !rule.props["v"].unsure {
			sure++
		}
		for _, value := range values {
			tree, _, err := object.Parse([]byte(`{"v":` + value + `}`))
			if err != nil {
				t.Fatal(err)
			}
			quick, valid := rule.Accepts(tree), library.Validate(tree).IsValid()
			// The library lets whole floats pass for integers, and lists for
			// strings with a format; there it is asked.
			left := rule.props["v"].unsure || value == "2.0" || value == "1e3" || strings.Contains(y, "format") && value[0] == '['
			if quick && !valid || valid && !quick && !left {
				t.Errorf("%s of %s: quick says %t, the library %t", value, y, quick, valid)
			}
		}
	}
	if sure < 40 {
		t.Errorf("sure of %d schemas only", sure)
	}
}

// compile is a schema as the library validates by it, and as a rule.
func compile(t *testing.T, text string) (validation.SchemaValidator, *Rule) {
	t.Helper()
	var v1 apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict([]byte(text), &v1); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &in, nil); err != nil {
		t.Fatal(err)
	}
	library, openapi, err := validation.NewSchemaValidator(&in)
	if err != nil {
		t.Fatal(err)
	}
	return library, NewRule(openapi)
}
