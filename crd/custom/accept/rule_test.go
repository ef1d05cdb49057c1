package accept

import (
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// What nearly every definition is made of is accepted without the library, up
// to its bounds; of the rest a rule knows that it is unsure.
func TestWhatIsAcceptedWithoutTheLibrary_CRD05(t *testing.T) {
	for _, c := range []struct {
		schema string
		value  any
	}{
		{`{type: string, pattern: "^a+$"}`, "aa"},
		{`{type: string, format: date}`, "2020-01-01"},
		{`{type: integer, format: int64}`, int64(1) << 40},
		{`{type: number, minimum: 2}`, 2.0},
		{`{type: number, maximum: 2}`, 2.0},
		{`{type: integer, minimum: 2147483647}`, int64(2147483647)},
		{`{type: integer, maximum: -2147483647}`, int64(-2147483647)},
		{`{type: object, additionalProperties: {type: string}}`, map[string]any{"a": "b"}},
	} {
		if _, r := compile(t, c.schema); r.unsure || !r.Accepts(c.value) {
			t.Errorf("%s: %v is not accepted, unsure %t", c.schema, c.value, r.unsure)
		}
	}
	for _, schema := range []string{
		`{type: number, minimum: 1.5}`, `{type: integer, maximum: 4294967296}`, `{type: integer, minimum: -4294967296}`, `{type: integer, enum: [1]}`,
	} {
		if _, r := compile(t, schema); !r.unsure {
			t.Errorf("%s: sure", schema)
		}
	}
	for format, kind := range map[string]string{"nonsense": "string", "date": "integer", "int32": "number", "int64": "string"} {
		if !NewRule(&spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{kind}, Format: format}}).unsure {
			t.Errorf("sure of a %s with the format %s", kind, format)
		}
	}
	if _, r := compile(t, `{}`); r.Accepts(int32(5)) {
		t.Error("a type that no JSON becomes is accepted")
	}
	closed := NewRule(&spec.Schema{SchemaProps: spec.SchemaProps{
		Properties: map[string]spec.Schema{"a": {}}, AdditionalProperties: &spec.SchemaOrBool{Allows: false},
	}})
	if closed.Accepts(map[string]any{"b": int64(1)}) || !closed.Accepts(map[string]any{"a": int64(1)}) {
		t.Error("other fields are accepted where there may be none, or those that may be there are not")
	}
}
