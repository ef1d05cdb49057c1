package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/object"
)

// schemas have one of each thing that a schema can say.
var schemas = []string{
	`{type: object, required: [a], properties: {a: {type: string, minLength: 3, maxLength: 5}, b: {type: integer, minimum: 3, maximum: 5, exclusiveMaximum: true}, c: {type: number, multipleOf: 0.5}}}`,
	`{type: object, properties: {a: {type: string, pattern: '^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$'}, b: {type: string, format: date-time}, c: {type: string, format: ipv6}, d: {type: string, enum: [x, y, ""]}}}`,
	`{type: object, properties: {a: {type: array, minItems: 2, maxItems: 4, items: {type: string}, x-kubernetes-list-type: set}, b: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, l], items: {type: object, required: [k, l], properties: {k: {type: string}, l: {type: integer}, m: {type: boolean}}}}}}`,
	`{type: object, properties: {spec: {type: object, oneOf: [{required: [a]}, {required: [b]}, {required: [c], properties: {c: {minimum: 7}}}], properties: {a: {type: string}, b: {type: object, properties: {x: {type: string, nullable: true}}}, c: {type: integer}}}}}`,
	`{type: object, properties: {spec: {type: object, anyOf: [{required: [a]}, {required: [b]}], not: {required: [c]}, properties: {a: {x-kubernetes-int-or-string: true}, b: {type: boolean}, d: {x-kubernetes-preserve-unknown-fields: true}}}}}`,
	`{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object, additionalProperties: {type: array, items: {type: integer, format: int32}}, minProperties: 1, maxProperties: 2}, b: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`,
	`{type: object, properties: {spec: {type: object, properties: {low: {type: integer, default: 3}, high: {type: integer}, name: {type: string}}, x-kubernetes-validations: [{rule: "!has(self.high) || self.low <= self.high"}]}}}`,
	`{type: object, properties: {spec: {type: object, nullable: true, allOf: [{required: [a]}, {properties: {a: {maxLength: 2}}}], properties: {a: {type: string}, b: {type: array, items: {type: array, items: {type: object, properties: {c: {type: string, default: x}}}}}}}, status: {type: object, properties: {at: {type: string, format: duration}}}}}`,
}

// compiled is a definition of v1 and more versions, which all have one schema.
func compiled(schemaText string, more ...string) (*crd.Definition, error) {
	var s apiextensionsv1.JSONSchemaProps
	if err := yaml.Unmarshal([]byte(schemaText), &s); err != nil {
		return nil, err
	}
	c := &apiextensionsv1.CustomResourceDefinition{}
	c.Name, c.Spec.Group, c.Spec.Scope = "widgets.example.com", "example.com", apiextensionsv1.NamespaceScoped
	c.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"}
	c.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &s}}}
	for _, name := range more {
		c.Spec.Versions = append(c.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &s}})
	}
	return custom.Compile(c)
}

// Whatever a schema says, there is an object for each of its fields.
func TestEachFieldIsReached(t *testing.T) {
	for _, text := range schemas {
		d, err := compiled(text)
		if err != nil {
			t.Fatal(text, err)
		}
		o, err := newObjects(d, d.Versions[0], 1)
		if err != nil {
			t.Fatal(err)
		}
		left := map[string]bool{}
		for _, f := range o.targets {
			left[f.field] = true
		}
		n := 0
		for obj := range o.all {
			if n++; n > 300 {
				break
			}
			o.paths.each(obj, func(f string) { delete(left, f) })
		}
		if len(left) > 0 || len(o.targets) == 0 {
			t.Errorf("of %s nothing has %v", text, left)
		}
	}
}

// An object that is made for a field has the plainest values of all others, and a map its
// first keys.
func TestOtherFieldsArePlain(t *testing.T) {
	d, err := compiled(`{type: object, required: [b, m], properties: {a: {type: integer}, b: {type: boolean}, m: {type: object, minProperties: 2, additionalProperties: {type: integer}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	o, err := newObjects(d, d.Versions[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	plain := o.make(random, nil, style{common: true})
	if m, ok := plain["m"].(map[string]any); !ok || len(m) != 2 || m[keys[0]] == nil || m[keys[1]] == nil {
		t.Fatalf("a plain object is %v", plain)
	}
	for _, f := range o.targets {
		for round := range rounds {
			if obj := o.aimed(random, f, round); f.field == "a" && (!object.Equal(obj["b"], plain["b"]) || !object.Equal(obj["m"], plain["m"])) {
				t.Errorf("for %s, in round %d: %v, where a plain one is %v", f.field, round, obj, plain)
			}
		}
	}
}

// Every object that is made is one that the product's own validation accepts, as it
// stands, and the same seed makes the same ones.
func FuzzObjects(f *testing.F) {
	for i, text := range schemas {
		f.Add(text, uint64(i))
	}
	f.Add(`{type: object, properties: {a: {type: string, minLength: 99999999999, pattern: '((x{900}){900})*'}, b: {type: array, minItems: 99999999, items: {type: object, minProperties: 7777777, additionalProperties: {type: string}}}}}`, uint64(1))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if len(text) > 4<<10 {
			return
		}
		d, err := compiled(text)
		if err != nil {
			return
		}
		v := d.Versions[0]
		first, second := firstOf(t, d, seed), firstOf(t, d, seed)
		if first.text != second.text {
			t.Errorf("the same seed makes\n%s\nand\n%s", first.text, second.text)
		}
		for _, obj := range first.objects {
			before := object.Clone(obj)
			unknown, err := v.Shape.FromClient(obj, true)
			if err != nil || len(unknown) > 0 || !object.Equal(before, obj) {
				t.Errorf("%v of %s: %v, %q", before, text, err, unknown)
			}
			if errs := v.Strategy.Validate(t.Context(), &unstructured.Unstructured{Object: obj}, nil).Errors; len(errs) > 0 {
				t.Errorf("%v of %s: %v", obj, text, errs)
			}
		}
	})
}

type firstObjects struct {
	objects []map[string]any
	text    string
}

func firstOf(t *testing.T, d *crd.Definition, seed uint64) (out firstObjects) {
	o, err := newObjects(d, d.Versions[0], seed)
	if err != nil {
		t.Skip(err)
	}
	n := 0
	for obj := range o.all {
		if n++; n > 40 {
			return out
		}
		if obj != nil {
			out.objects = append(out.objects, obj)
			data, err := object.Encode(obj)
			out.text += fmt.Sprintln(string(data), err)
		}
	}
	return out
}

// Pairs are those of versions that are served or stored, of the storage version first and
// else in the order of the definition.
func TestPairsBeginAtTheStorageVersion(t *testing.T) {
	d, err := compiled(`{type: object}`, "v2", "v3", "v4")
	if err != nil {
		t.Fatal(err)
	}
	d.StorageVersion, d.Version("v2").Served, d.Version("v4").Served = "v2", false, false
	want := []Pair{{"v2", "v3"}, {"v2", "v1"}, {"v3", "v2"}, {"v3", "v1"}, {"v1", "v3"}, {"v1", "v2"}}
	if all := PairsOf(d); !slices.Equal(all, want) {
		t.Errorf("%v, want %v", all, want)
	}
}
