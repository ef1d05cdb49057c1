package custom

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd/object"
)

// fuzzSchemas touch every part of a schema that the quick paths treat.
var fuzzSchemas = []string{
	endpointSchema,
	`
type: object
required: [a]
properties:
  a: {type: string, default: d, enum: [d, x, ""]}
  b: {type: integer, nullable: true, format: int32, minimum: -3, maximum: 7, exclusiveMaximum: true}
  c: {type: array, minItems: 1, maxItems: 2, items: {type: string, nullable: true, minLength: 1, maxLength: 2}}
  d: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object, properties: {b: {type: string}}}}}
  metadata: {type: object, properties: {name: {type: string, pattern: "^[a-z]*$"}}}
  spec:
    type: object
    default: {a: {b: 1}}
    maxProperties: 3
    properties:
      a: {type: object, properties: {b: {type: integer}, c: {type: boolean, default: true}}}
      b: {type: number, minimum: 0, exclusiveMinimum: true}
      c: {type: array, items: {type: object, properties: {a: {type: string, default: q}}}}
`, `
type: object
properties:
  a: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
  b: {type: array, items: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object, properties: {a: {type: string}}}}}}
  c: {type: object, additionalProperties: {type: object, nullable: true, properties: {a: {type: string, format: date-time}}}}
  d: {type: object, additionalProperties: true}
  spec: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], pattern: "^[0-9a-z]+$"}
  status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, `
type: object
x-kubernetes-preserve-unknown-fields: true
properties:
  a: {type: array, items: {type: array, items: {type: string}}}
  b: {type: string, format: byte}
  c: {allOf: [{minLength: 1}, {maxLength: 2}], type: string}
  d: {oneOf: [{required: [a]}, {required: [b]}], type: object, additionalProperties: {type: string, nullable: true}}
`, `
type: object
x-kubernetes-embedded-resource: true
x-kubernetes-preserve-unknown-fields: true
properties:
  a: {type: string, default: z}
`, `{type: object, x-kubernetes-preserve-unknown-fields: true}`, `{type: object}`,
}

type subject struct {
	shape     *shape
	validator validation.SchemaValidator
}

func subjects(t testing.TB) []subject {
	t.Helper()
	var out []subject
	for _, y := range fuzzSchemas {
		v := apiextensionsv1.CustomResourceDefinitionVersion{Schema: &apiextensionsv1.CustomResourceValidation{}}
		if err := yaml.UnmarshalStrict([]byte(y), &v.Schema.OpenAPIV3Schema); err != nil {
			t.Fatal(err)
		}
		for _, preserve := range []bool{false, true} {
			internal, err := internalSchema(&v)
			if err != nil {
				t.Fatal(err)
			}
			s, err := structuralSchema(internal, preserve)
			if err != nil {
				t.Fatal(err)
			}
			validator, err := newValidator(internal)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, subject{newShape(s, preserve), validator})
		}
	}
	return append(out, subject{newShape(nil, false), nil})
}

// agree holds the quick paths to what the library does.
func (s subject) agree(t *testing.T, tree map[string]any) {
	t.Helper()
	for _, m := range []mode{{strict: true, fill: true}, {fill: true}, {lenient: true, fill: true}, {}} {
		got, want := runtime.DeepCopyJSON(tree), runtime.DeepCopyJSON(tree)
		settled := m.fill && s.shape.Canonical(got)
		if !reflect.DeepEqual(got, tree) {
			t.Fatalf("Settled changed %s to %s", text(tree), text(got))
		}
		gotPaths, gotErr := s.shape.apply(got, m)
		if settled && (gotErr != nil || len(gotPaths) > 0 || !reflect.DeepEqual(got, tree)) {
			t.Fatalf("said to be settled: %s, which becomes %s, %v", text(tree), text(got), gotErr)
		}
		wantPaths, wantErr := byLibrary(s.shape, want, m)
		if (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("%+v: error %v, want %v\n%s", m, gotErr, wantErr, text(tree))
		}
		if gotErr != nil {
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v: of %s\ngot  %s\nwant %s", m, text(tree), text(got), text(want))
		}
		// A root that is an embedded resource too reports its metadata twice.
		wantPaths = unknownFields(wantPaths)
		slices.Sort(wantPaths)
		slices.Sort(gotPaths)
		if !slices.Equal(slices.Compact(gotPaths), slices.Compact(wantPaths)) {
			t.Fatalf("%+v: of %s\ndropped %q, want %q", m, text(tree), gotPaths, wantPaths)
		}
		s.agreeOnValidity(t, got)
	}
}

func (s subject) agreeOnValidity(t *testing.T, tree map[string]any) {
	t.Helper()
	q, ok := s.validator.(*quickValidator)
	if !ok || !q.rule.Accepts(tree) {
		return
	}
	if r := q.SchemaValidator.Validate(tree); !r.IsValid() {
		t.Fatalf("accepted %s, but %v", text(tree), r.Errors)
	}
	if r := q.SchemaValidator.ValidateUpdate(tree, map[string]any{}); !r.IsValid() {
		t.Fatalf("accepted %s as an update, but %v", text(tree), r.Errors)
	}
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

var fuzzSeeds = []string{
	endpointObject,
	`{}`, `{"kind":1}`, `{"apiVersion":null}`, `{"metadata":null}`, `{"metadata":[]}`, `{"metadata":{}}`,
	`{"apiVersion":"example.com/v1","kind":"X","metadata":{"name":"a","creationTimestamp":null,"labels":{"a":null}}}`,
	`{"metadata":{"labels":{"a":1},"annotations":{},"finalizers":["x"],"generation":0,"unknown":{"a":1}}}`,
	`{"metadata":{"creationTimestamp":"2020-01-01T00:00:00+01:00","deletionTimestamp":"0001-01-01T00:00:00Z","generation":1.0}}`,
	`{"metadata":{"creationTimestamp":"2020-13-01T00:00:00Z","deletionGracePeriodSeconds":0}}`,
	`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"b","uid":"c","controller":true}],"selfLink":""}}`,
	`{"metadata":{"ownerReferences":[{"apiVersion":"v1"},null]}}`,
	`{"metadata":{"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{".":{}}}}]}}`,
	`{"metadata":{"managedFields":[{"manager":"","fieldsV1":{"a":1.50,"b":[null]}},{"time":null,"fieldsV1":null,"x":1}]}}`,
	`{"a":null,"b":null,"c":[null,"a"],"d":{"a":{"b":1,"c":2},"z":[{"y":null}]},"spec":{"a":{},"x":1,"c":[{}]},"x":{"y":1}}`,
	`{"a":{"apiVersion":1,"kind":"K","metadata":{"name":"x","bad":1},"spec":{"x":null}},"b":[{"kind":"A","metadata":{"creationTimestamp":null,"name":""},"spec":{"a":null,"b":1}}],"c":{"x":null,"y":{"a":"2020-01-01T00:00:00Z","b":1}},"d":{"x":{"y":1}},"spec":"5"}`,
	`{"a":[[null,"x"]],"b":"YQ==","c":"ab","d":{"a":"x"},"unknown":{"null":null}}`,
	`{"a":"x","b":2147483648,"spec":{"b":0.5}}`, `{"spec":7}`, `{"b":7,"a":"d"}`, `{"b":-3,"a":"","c":[]}`,
}

func FuzzShape(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	all := subjects(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, _, err := object.Parse(data)
		if err != nil || isUnclean(tree) {
			return
		}
		for _, s := range all {
			s.agree(t, tree)
		}
	})
}

// isUnclean finds what no parser of requests lets through.
func isUnclean(tree map[string]any) bool {
	b, err := object.Encode(tree)
	return err != nil || strings.Contains(string(b), `\ufffd`)
}

// TestShape_random does what FuzzShape does with objects that are made of the
// names and values that mean something to the schemas.
func TestShape_random(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	all := subjects(t)
	for range 600 {
		tree := map[string]any{"apiVersion": "example.com/v1", "kind": "X"}
		for range r.IntN(5) {
			tree[name(r)] = value(r, 4)
		}
		if r.IntN(2) == 0 {
			meta := map[string]any{}
			for range r.IntN(4) {
				meta[metaNames[r.IntN(len(metaNames))]] = metaValues[r.IntN(len(metaValues))]
			}
			tree["metadata"] = runtime.DeepCopyJSONValue(meta)
		}
		for _, s := range all {
			s.agree(t, tree)
		}
	}
}

var (
	metaNames = []string{
		"name", "generateName", "namespace", "uid", "generation", "labels", "annotations", "finalizers", "resourceVersion",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "managedFields", "odd",
	}
	metaValues = []any{
		nil, "", "a", int64(0), int64(1), 1.5, true, map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a": nil},
		[]any{}, []any{"a"}, []any{nil}, "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5Z",
		[]any{map[string]any{"apiVersion": "v1", "kind": "A", "name": "b", "uid": "c"}},
		[]any{map[string]any{"manager": "m", "fieldsV1": map[string]any{"f:a": map[string]any{}}}},
		[]any{map[string]any{"manager": "m", "fieldsV1": map[string]any{"f:a": nil}}},
	}
	fieldNames = []string{"a", "b", "c", "d", "spec", "status", "metadata", "kind", "x", "name", "containers", "tags"}
)

func name(r *rand.Rand) string {
	n := fieldNames[r.IntN(len(fieldNames))]
	if n == "kind" {
		return "e" // a kind of another type is an error and nothing else
	}
	return n
}

func value(r *rand.Rand, depth int) any {
	n := 12
	if depth == 0 {
		n = 8
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return int64(r.IntN(12) - 4)
	case 3:
		return float64(r.IntN(9))/4 - 1
	case 4:
		return int64(1) << r.IntN(60)
	case 5, 6, 7:
		return []string{"", "d", "x", "ab", "abc", "2020-01-01T00:00:00Z", "YQ=="}[r.IntN(7)]
	case 8:
		a := []any{}
		for range r.IntN(4) {
			a = append(a, value(r, depth-1))
		}
		return a
	default:
		m := map[string]any{}
		for range r.IntN(4) {
			m[fieldNames[r.IntN(len(fieldNames))]] = value(r, depth-1)
		}
		return m
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	f.Add([]byte("\xd9\xd9\xf7\xa1aa\x01"))
	f.Add([]byte("\xd9\xd9\xf7\xf6"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := JSON.Decode(data)
		if err != nil {
			return
		}
		checkTree(t, tree)
		once, err := JSON.Encode(tree)
		if err != nil {
			t.Fatalf("%q does not encode: %v", data, err)
		}
		again, err := JSON.Decode(once)
		if err != nil {
			t.Fatalf("%q does not decode: %v", once, err)
		}
		twice, err := JSON.Encode(again)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("%q became %q (%v)", once, twice, err)
		}
	})
}

// checkTree fails on values that a tree may not have.
func checkTree(t *testing.T, v any) {
	t.Helper()
	switch x := v.(type) {
	case nil, string, bool, int64, float64, object.Managed:
	case []any:
		for _, e := range x {
			checkTree(t, e)
		}
	case map[string]any:
		for _, e := range x {
			checkTree(t, e)
		}
	default:
		t.Fatalf("the tree has a %T", v)
	}
}
