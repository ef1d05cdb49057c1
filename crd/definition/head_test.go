package definition

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/object"
	crdschema "github.com/wasmgate/wasmgate/crd/schema"
)

// everything is a schema with every field that one can have, and text that JSON
// escapes.
const everything = `{id: i, $schema: s, $ref: r, description: "a<b>&\"\u2028\\", type: object, format: f, title: t,
default: {z: 1, a: [null, 1.5, {y: 1, b: 2}]}, maximum: 1.5, exclusiveMaximum: true, minimum: -3, exclusiveMinimum: true, maxLength: 9007199254740993, minLength: 1,
pattern: "^<$", maxItems: 1, minItems: 2, uniqueItems: true, multipleOf: 1.0e+30, enum: [{b: 1, a: 2}, x, null, 1], maxProperties: 3, minProperties: 4, required: [b, a],
items: {type: string, description: d}, allOf: [{type: object, description: d}], oneOf: [{title: t, not: {type: string, id: i}}], anyOf: [{}], not: {type: string, id: x},
properties: {z: {type: string, description: d}, a: {items: [{type: string, id: x}, {}]}, "<": {default: false}}, additionalProperties: {type: string, id: x}, patternProperties: {y: {type: string, id: x}, b: {}},
dependencies: {y: [b, a], a: {type: string, id: x}}, additionalItems: false, definitions: {y: {type: string, id: x}}, externalDocs: {url: u, description: d}, example: {b: 1, a: 2}, nullable: true,
x-kubernetes-preserve-unknown-fields: false, x-kubernetes-embedded-resource: true, x-kubernetes-int-or-string: true, x-kubernetes-list-map-keys: [b, a], x-kubernetes-list-type: map, x-kubernetes-map-type: atomic,
x-kubernetes-validations: [{rule: "self < 1", message: m, messageExpression: e, reason: FieldValueInvalid, fieldPath: .x, optionalOldSelf: false}, {fieldPath: .y, rule: "true"}]}`

// varied are definitions with schemas of all kinds, as objects are after they
// were read from a client.
func varied(t *testing.T) map[string]map[string]any {
	t.Helper()
	model := func(of reflect.Type) string {
		b, err := json.Marshal(crdschema.For(of))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	versions := func(schemas ...string) string {
		var all []string
		for i, s := range schemas {
			all = append(all, fmt.Sprintf(`{name: v%d, served: true, storage: %v, %s}`, i+1, i == 0, s))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	of := func(schema string) string { return "schema: {openAPIV3Schema: " + schema + "}" }
	pods, services := model(reflect.TypeFor[appsv1.Deployment]()), model(reflect.TypeFor[corev1.Service]())
	out := map[string]map[string]any{}
	for name, versions := range map[string]string{
		"one":                        versions(of(everything)),
		"all the same":               versions(of(pods), of(pods), of(pods)),
		"all others":                 versions(of(pods), of(services), of(everything)),
		"two the same":               versions(of(everything), of(services), of(everything)),
		"some without":               versions(of(services), "schema: {}", "deprecated: true"),
		"none":                       versions("schema: {}", "schema: {}"),
		"empty":                      versions(of("{}"), of("{}")),
		"empty and not":              versions(of("{}"), "schema: {}"),
		"no versions":                "[]",
		"the same but for a default": versions(of("{type: object, default: {a: 1}}"), of("{type: object, default: {a: 1.5}}")),
	} {
		obj := tree(t, bars, "spec.versions", versions, "spec.preserveUnknownFields", "true", "metadata.managedFields", `[{manager: m, operation: Update, fieldsType: FieldsV1, fieldsV1: {"f:spec": {}}}]`)
		if _, err := Definition().Version("v1").Shape.FromClient(obj, false); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = obj
	}
	return out
}

// What a definition is stored as, and what is read from it, is what the library
// makes of the whole of it.
func TestStoredByItsHeadAsByTheLibrary(t *testing.T) {
	for name, obj := range varied(t) {
		in, err := internal(obj)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := runtime.Encode(stored, in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		before := object.Clone(obj)
		got, err := Definition().Codec.Encode(obj)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: stored as\n%s, %v\nand should be\n%s", name, got, err, want)
		}
		if !object.Equal(obj, before) {
			t.Errorf("%s: what was stored was changed", name)
		}
		c, err := FromStored(want)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		whole, err := toTree(c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		read, err := Definition().Codec.Decode(want)
		if err != nil || !object.Equal(read, whole) {
			t.Errorf("%s: read as\n%v, %v\nand should be\n%v", name, read, err, whole)
		}
	}
}

// Whether the specification changed is told by heads as by the whole.
func TestGenerationByHeads(t *testing.T) {
	s := Definition().Version("v1").Strategy
	all := varied(t)
	for name, obj := range all {
		for other, old := range all {
			next, before := &unstructured.Unstructured{Object: object.Clone(obj)}, &unstructured.Unstructured{Object: object.Clone(old)}
			before.SetGeneration(3)
			next.SetGeneration(3)
			s.Prepare(t.Context(), next, before)
			want := int64(4)
			if name == other {
				want = 3
			}
			if got := next.GetGeneration(); got != want {
				t.Errorf("%s over %s: generation %d, not %d", name, other, got, want)
			}
			if !object.Equal(next.Object["spec"], obj["spec"]) {
				t.Errorf("%s over %s: the specification became %v", name, other, next.Object["spec"])
			}
		}
	}
}

func TestAHeadLacksSchemas(t *testing.T) {
	obj := varied(t)["two the same"]
	before := object.Clone(obj)
	var h heads
	head, schemas := h.of(obj)
	if len(schemas) != 3 || !object.Equal(schemas[0], schemas[2]) || object.Equal(schemas[0], schemas[1]) {
		t.Errorf("%d schemas", len(schemas))
	}
	if text, err := object.Encode(head); err != nil || len(text) > 1500 {
		t.Errorf("the head has %d bytes, %v", len(text), err)
	}
	c, err := FromTree(head)
	if err != nil {
		t.Fatal(err)
	}
	mark := func(version int) string { return c.Spec.Versions[version].Schema.OpenAPIV3Schema.Description }
	if mark(0) != mark(2) || mark(0) == mark(1) {
		t.Errorf("marks %q, %q and %q", mark(0), mark(1), mark(2))
	}
	if !object.Equal(whole(head, schemas), obj) || !object.Equal(obj, before) {
		t.Error("the head with its schemas is not the whole, or that was changed")
	}
	for _, odd := range []map[string]any{{}, {"spec": 1}, {"spec": map[string]any{"versions": "x"}}, {"spec": map[string]any{"versions": []any{"x", map[string]any{"schema": 1}, map[string]any{"schema": map[string]any{"openAPIV3Schema": "x"}}}}}} {
		if head, _ := h.of(odd); !reflect.DeepEqual(head, odd) {
			t.Errorf("the head of %v is %v", odd, head)
		}
	}
}

// No two trees have one hash whatever its seed is: who knew such could put as many of
// them into a body as are compared with each other for minutes.
func TestHashesOfTreesDiffer(t *testing.T) {
	var h heads
	h.mark(map[string]any{})
	for _, pair := range [][2]any{
		{[]any{[]any{[]any{}}, []any{[]any{}}}, []any{[]any{}, []any{[]any{}, []any{}}}},
		{[]any{}, map[string]any{}}, {[]any{}, []any{[]any{}}}, {[]any{"a", "b"}, []any{"b", "a"}},
		{map[string]any{"a": "b"}, map[string]any{"a": []any{"b"}}}, {map[string]any{"a": "x", "b": "y"}, map[string]any{"a": "y", "b": "x"}},
	} {
		if h.hash(pair[0]) == h.hash(pair[1]) {
			t.Errorf("%v and %v", pair[0], pair[1])
		}
	}
}

// Schemas whose keys are spelled in another way are the library's to read.
func TestStoredWithEscapedKeys(t *testing.T) {
	text := `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"n"},"spec":{"group":"g","names":{"plural":"p","kind":"K"},"versions":[{"name":"v1","sch\u0065ma":{"openAPIV3Schema":{"type":"object"}}}]}}`
	obj, err := Definition().Codec.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := FromTree(obj)
	if err != nil || c.Spec.Versions[0].Schema.OpenAPIV3Schema.Type != "object" {
		t.Errorf("read as %v, %v", obj, err)
	}
}

// As many different schemas as fit into a body are told apart without comparing each with
// each, small ones, too: empty values must not take the keys out of a hash.
func TestSchemasHaveDifferentHashes(t *testing.T) {
	var h heads
	const many = 1000
	for i := range many {
		key := strconv.Itoa(i)
		for _, schema := range []any{
			map[string]any{key: map[string]any{}}, map[string]any{key: []any{}}, map[string]any{"a": map[string]any{key: map[string]any{}}},
			map[string]any{"a": []any{map[string]any{}, key}}, map[string]any{"a": []any{key, map[string]any{}}},
		} {
			first := h.mark(schema)
			if second := h.mark(schema); !object.Equal(first, second) {
				t.Fatalf("%v is %v and %v", schema, first, second)
			}
		}
	}
	most := 0
	for _, same := range h.known {
		most = max(most, len(same))
	}
	if h.marks != 5*many || most > 2 { // {} and [] of one key may meet
		t.Errorf("%d schemas of %d, up to %d with one hash", h.marks, 5*many, most)
	}
}
