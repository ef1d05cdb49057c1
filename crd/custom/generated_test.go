package custom

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd"
)

// generator makes definitions: mostly plausible ones, so that validation lets
// many through, with something odd here and there.
type generator struct{ *rand.Rand }

func (g generator) one(of ...string) string { return of[g.IntN(len(of))] }

// often is true in n of 10 cases.
func (g generator) often(n int) bool { return g.IntN(10) < n }

func raw(s string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(s)} }

func (g generator) schema(depth int) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: g.one("object", "object", "object", "array", "string", "string", "integer", "number", "boolean", "")}
	if depth <= 0 && (s.Type == "object" || s.Type == "array") {
		s.Type = "string"
	}
	s.Nullable = g.often(2)
	yes := true
	switch s.Type {
	case "object":
		g.object(&s, depth)
	case "array":
		items := g.schema(depth - 1)
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}
		if g.often(3) {
			list := g.one("set", "map", "atomic")
			s.XListType = &list
			if list == "map" {
				s.XListMapKeys = []string{g.one("a", "b")}
			}
		}
		if g.often(2) {
			n := int64(g.IntN(4))
			s.MaxItems = &n
		}
	case "string":
		s.Format = g.one("", "", "", "byte", "date-time", "ipv4", "uuid", "duration", "nonsense")
		s.Pattern = g.one("", "", "", "^[a-z]+$", "(", "^(a|b)*$")
		if g.often(2) {
			s.Enum = []apiextensionsv1.JSON{*raw(`"a"`), *raw(`"b"`)}
		}
	case "integer", "number":
		if g.often(3) {
			low, high := float64(g.IntN(5)-3), float64(g.IntN(5))
			s.Minimum, s.Maximum, s.ExclusiveMaximum = &low, &high, g.often(3)
		}
		s.Format = g.one("", "", "int32", "int64", "float", "double")
	case "":
		s.XIntOrString = g.often(7)
		if !s.XIntOrString {
			s.XPreserveUnknownFields = &yes
		}
	}
	if g.often(2) {
		s.Default = raw(g.one(`"a"`, `1`, `{}`, `[]`, `true`, `{"a":1}`, `null`, `{"a":{"b":[]}}`))
	}
	if g.often(1) {
		s.AllOf = []apiextensionsv1.JSONSchemaProps{{Required: []string{"a"}}, {Not: &apiextensionsv1.JSONSchemaProps{MinLength: new(int64)}}}
	}
	if g.often(1) {
		s.XValidations = apiextensionsv1.ValidationRules{{Rule: g.one("true", "self == self", "self.a == oldSelf.a", "size(self) < 3", "self.b.startsWith('x')", "(")}}
	}
	return s
}

func (g generator) object(s *apiextensionsv1.JSONSchemaProps, depth int) {
	yes := true
	switch g.IntN(5) {
	case 0:
		value := g.schema(depth - 1)
		s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &value}
	case 1:
		s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: g.often(5)}
	default:
		s.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		for range g.IntN(4) {
			s.Properties[g.one("a", "b", "spec", "status", "x.y", "é", "type")] = g.schema(depth - 1)
		}
		if g.often(3) {
			s.Required = []string{g.one("a", "b", "nowhere")}
		}
	}
	if g.often(1) {
		s.XPreserveUnknownFields = &yes
	}
	if g.often(1) {
		s.XEmbeddedResource, s.XPreserveUnknownFields = true, &yes
	}
}

func (g generator) definition() *apiextensionsv1.CustomResourceDefinition {
	c := &apiextensionsv1.CustomResourceDefinition{}
	c.Name, c.UID = "foos.example.com", "u"
	c.Spec.Group, c.Spec.Scope = "example.com", apiextensionsv1.ResourceScope(g.one("Namespaced", "Cluster"))
	c.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "foos", Singular: "foo", Kind: "Foo", ListKind: "FooList"}
	c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	for i, name := range []string{"v1", "v1beta1", "v2alpha1"}[:1+g.IntN(3)] {
		root := g.schema(3)
		if g.often(9) {
			root.Type, root.Nullable, root.Default, root.Items, root.Format = "object", false, nil, nil, ""
		}
		v := apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: i == 0 || g.often(5), Storage: i == 0, Deprecated: g.often(2)}
		v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root}
		if g.often(5) {
			v.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
			if g.often(5) {
				v.Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: g.one(".spec.a", ".spec.é", "spec"), StatusReplicasPath: ".status.b"}
			}
		}
		for range g.IntN(3) {
			v.AdditionalPrinterColumns = append(v.AdditionalPrinterColumns, apiextensionsv1.CustomResourceColumnDefinition{
				Name: g.one("A", "B", "C"), Type: g.one("string", "integer", "date", "number", "boolean"),
				JSONPath: g.one(".spec.a", ".spec.b[0]", ".a[?(@.x==1)].y", `.metadata.annotations.a\.b`, ".spec['a']", ".x[*].y", "{.spec}", ".["),
			})
		}
		if g.often(2) {
			v.SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: g.one(".a", ".spec.a", ".spec.b", ".é")}}
		}
		c.Spec.Versions = append(c.Spec.Versions, v)
	}
	c.Status.StoredVersions = []string{"v1"}
	return c
}

// valid tells whether a definition could be created. The library does not
// survive all of them.
func valid(t *testing.T, c *apiextensionsv1.CustomResourceDefinition) (ok bool) {
	t.Helper()
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	in := c.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinition(in)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&in.Spec)
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(in, out, nil); err != nil {
		return false // raw JSON that is no JSON
	}
	return len(crdvalidation.ValidateCustomResourceDefinition(context.Background(), out)) == 0
}

// Whatever definition validation accepts compiles, and serves any object
// without a panic.
func TestAnyValidDefinitionCompiles_CRD01(t *testing.T) {
	accepted := 0
	for seed := range uint64(600) {
		g := generator{rand.New(rand.NewPCG(seed, 3))}
		c := g.definition()
		if !valid(t, c) {
			// It must not be served, but it may be in the store.
			_, _ = Compile(c)
			continue
		}
		accepted++
		d, err := Compile(c)
		if err != nil {
			t.Errorf("seed %d: %v of %s", seed, err, text(c))
			continue
		}
		if len(d.Versions) != len(c.Spec.Versions) {
			t.Errorf("seed %d: %d versions of %d", seed, len(d.Versions), len(c.Spec.Versions))
		}
		for _, v := range d.Versions {
			for range 5 {
				serve(t, g, v)
			}
		}
	}
	if accepted < 100 {
		t.Errorf("only %d definitions were valid: they show too little", accepted)
	}
}

// serve takes one random object the way of a write and a read.
func serve(t *testing.T, g generator, v *crd.Version) {
	t.Helper()
	obj, ok := value(g.Rand, 4).(map[string]any)
	if !ok {
		obj = map[string]any{"spec": value(g.Rand, 3), "status": value(g.Rand, 2)}
	}
	obj["apiVersion"], obj["kind"] = "example.com/"+v.Name, "Foo"
	obj["metadata"] = map[string]any{"name": "a", "namespace": "n"}
	old := parse(t, text(obj))
	if _, err := v.Shape.FromClient(obj, true); err != nil {
		return
	}
	u := &unstructured.Unstructured{Object: obj}
	errs := v.Strategy.Validate(context.Background(), u, nil).Errors
	if err := v.Shape.FromStorage(old); err == nil {
		errs = append(errs, v.Strategy.Validate(context.Background(), u, &unstructured.Unstructured{Object: old}).Errors...)
	}
	if v.Fields != nil {
		v.Fields(obj)
	}
	if _, err := v.Table.ConvertToTable(context.Background(), u, nil); err != nil {
		t.Errorf("%s as a table: %v", text(obj), err)
	}
	_ = fmt.Sprint(errs)
}
