package custom

import (
	"context"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd/object"
)

// endpointSchema is of the size that people write by hand.
const endpointSchema = `
type: object
properties:
  spec:
    type: object
    properties:
      hostPort: {type: string}
      replicas: {type: integer}
      paused: {type: boolean}
      tags: {type: array, items: {type: string}}
      selector: {type: object, additionalProperties: {type: string}}
      containers:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          required: [name]
          properties:
            name: {type: string}
            image: {type: string}
            env: {type: array, items: {type: object, properties: {name: {type: string}, value: {type: string}}}}
            resources:
              type: object
              properties:
                limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
                requests: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
`

var endpointObject = `{"apiVersion":"example.com/v1","kind":"Endpoint","metadata":{"name":"ep-1","namespace":"default","labels":{"app":"app-1","tier":"backend","env":"prod"},"annotations":{"example.com/owner":"team-1@example.com","example.com/note":"` +
	strings.Repeat("n", 120) + `"}},"spec":{"hostPort":"host-1.example.com:8080","replicas":3,"paused":false,"tags":["a","b","c","d"],"containers":[{"name":"main","image":"registry.example.com/app:v1.2.3","env":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"C","value":"3"}],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"64Mi"}}},{"name":"sidecar","image":"registry.example.com/sidecar:v0.9","env":[{"name":"X","value":"` +
	strings.Repeat("y", 300) + `"}]}],"selector":{"app":"app-1"}}}`

// definition is a namespaced CustomResourceDefinition for kind at example.com
// with the versions given as YAML.
func definition(t testing.TB, kind, versions string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	plural := strings.ToLower(kind) + "s"
	names := apiextensionsv1.CustomResourceDefinitionNames{
		Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List",
	}
	c := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com", UID: "uid-1"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped, Names: names,
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{AcceptedNames: names},
	}
	if err := yaml.UnmarshalStrict([]byte(versions), &c.Spec.Versions); err != nil {
		t.Fatal(err)
	}
	return c
}

// one is a single version v1 with that schema.
func one(schema string) string {
	return "- name: v1\n  served: true\n  storage: true\n  schema:\n    openAPIV3Schema:\n" +
		strings.ReplaceAll("\n"+strings.TrimSpace(schema), "\n", "\n      ")
}

func parse(t testing.TB, s string) map[string]any {
	t.Helper()
	tree, _, err := object.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func BenchmarkShape(b *testing.B) {
	d, err := Compile(definition(b, "Endpoint", one(endpointSchema)))
	if err != nil {
		b.Fatal(err)
	}
	v := d.Version("v1")
	tree := parse(b, endpointObject)
	stored := runtime.DeepCopyJSON(tree)
	stored["metadata"].(map[string]any)["generation"] = int64(1)

	b.Run("FromClient", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Shape.FromClient(tree, true); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("FromStorage", func(b *testing.B) {
		for b.Loop() {
			if err := v.Shape.FromStorage(stored); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Library", func(b *testing.B) {
		s := v.Shape.(*shape)
		for b.Loop() {
			if _, err := byLibrary(s, tree, mode{strict: true, fill: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkStrategy(b *testing.B) {
	d, err := Compile(definition(b, "Endpoint", one(endpointSchema)))
	if err != nil {
		b.Fatal(err)
	}
	v := d.Version("v1")
	obj := &unstructured.Unstructured{Object: parse(b, endpointObject)}
	obj.SetResourceVersion("1")
	obj.SetGeneration(1)
	changed := obj.DeepCopy()
	changed.Object["spec"].(map[string]any)["replicas"] = int64(4)
	ctx := context.Background()
	b.Run("Validate", func(b *testing.B) {
		for b.Loop() {
			if errs := v.Strategy.Validate(ctx, obj, nil).Errors; len(errs) > 0 {
				b.Fatal(errs)
			}
		}
	})
	b.Run("PrepareForUpdate", func(b *testing.B) {
		for b.Loop() {
			v.Strategy.Prepare(ctx, changed, obj)
		}
	})
	b.Run("ValidateUpdate", func(b *testing.B) {
		for b.Loop() {
			if errs := v.Strategy.Validate(ctx, changed, obj).Errors; len(errs) > 0 {
				b.Fatal(errs)
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	c := definition(b, "Endpoint", one(endpointSchema))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompileRules compiles a definition with CEL rules, which are what
// takes time.
func BenchmarkCompileRules(b *testing.B) {
	c := definition(b, "Foo", one(`{type: object, properties: {a: {type: integer}, b: {type: string, maxLength: 10}}, x-kubernetes-validations: [
{rule: "self.a > 3"}, {rule: "self.a > oldSelf.a"}, {rule: "self.b.startsWith('x') || self.a < 3"}, {rule: "self.b.matches('^[a-z]+$')"}]}`))
	for b.Loop() {
		if _, err := Compile(c); err != nil {
			b.Fatal(err)
		}
	}
}
