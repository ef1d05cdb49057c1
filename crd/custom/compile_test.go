package custom

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd"
)

const cronVersions = `
- {name: v1beta1, served: true, storage: true, deprecated: true, schema: {openAPIV3Schema: {type: object, properties: {hostPort: {type: string}}}}}
- {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {host: {type: string}, port: {type: string}}}}}
- {name: v2, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`

func compile(t testing.TB, c *apiextensionsv1.CustomResourceDefinition) *crd.Definition {
	t.Helper()
	d, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCompile(t *testing.T) {
	c := definition(t, "CronTab", cronVersions)
	c.Status.AcceptedNames.ShortNames = []string{"ct"}
	c.Status.AcceptedNames.Categories = []string{"all"}
	c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	d := compile(t, c)
	t.Run("CRD-01 names", func(t *testing.T) {
		if d.Group != "example.com" || d.Plural != "crontabs" || d.Singular != "crontab" || d.Kind != "CronTab" ||
			d.ListKind != "CronTabList" || d.ShortNames[0] != "ct" || d.Categories[0] != "all" || !d.Namespaced {
			t.Errorf("got %+v", d)
		}
		if d.KeyPrefix != "example.com/crontabs" || d.UID != "uid-1" || d.Terminating || d.Conversion.Strategy != "None" {
			t.Errorf("got %+v", d)
		}
	})
	t.Run("CRD-09 versions by priority", func(t *testing.T) {
		var names []string
		for _, v := range d.Versions {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, ","); got != "v2,v1,v1beta1" || d.StorageVersion != "v1beta1" {
			t.Errorf("got %s, stored at %s", got, d.StorageVersion)
		}
	})
	t.Run("CRD-04 not served but stored", func(t *testing.T) {
		c := c.DeepCopy()
		c.Spec.Versions[0].Served = false
		if v := compile(t, c).Version("v1beta1"); v == nil || v.Served {
			t.Errorf("got %+v", v)
		}
	})
	t.Run("CRD-04 CRD-05 neither served nor stored any more", func(t *testing.T) {
		c := c.DeepCopy()
		c.Spec.Versions[2].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"kept": {Type: "string"}, "old": {Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"d"`)}},
		}}
		v := compile(t, c).Version("v2")
		if v == nil || v.Served {
			t.Fatalf("got %+v", v)
		}
		obj := map[string]any{"apiVersion": "x", "kept": "a", "gone": "b"}
		if err := v.Shape.FromStorage(obj); err != nil || text(obj) != `{"apiVersion":"x","kept":"a","old":"d"}` {
			t.Errorf("an old object is read as %s, %v", text(obj), err)
		}
	})
	t.Run("CRD-05 a schema for each version", func(t *testing.T) {
		for version, want := range map[string]string{"v1": `{"apiVersion":"x","host":"a","port":"1"}`, "v1beta1": `{"apiVersion":"x","hostPort":"a:1"}`} {
			obj := map[string]any{"apiVersion": "x", "host": "a", "port": "1", "hostPort": "a:1"}
			if err := d.Version(version).Shape.FromConversion(obj); err != nil {
				t.Fatal(err)
			}
			if text(obj) != want {
				t.Errorf("%s: %s", version, text(obj))
			}
			if d.Version(version).OpenAPISchema() == nil {
				t.Errorf("%s has no schema", version)
			}
		}
	})
	t.Run("the input stays the caller's", func(t *testing.T) {
		if !reflect.DeepEqual(c.Spec.Versions, definition(t, "CronTab", cronVersions).Spec.Versions) {
			t.Error("Compile changed it")
		}
		c.Spec.Versions[0].Schema.OpenAPIV3Schema.Type = "changed"
		if d.Version("v1beta1").OpenAPISchema().Type != "object" {
			t.Error("the definition shares memory with it")
		}
	})
}

func TestCompile_names(t *testing.T) {
	c := definition(t, "Foo", one(`{type: object}`))
	c.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	c.Spec.Names.Singular, c.Spec.Names.ListKind = "", ""
	if d := compile(t, c); d.Plural != "foos" || d.Singular != "foo" || d.ListKind != "FooList" {
		t.Errorf("asked for: got %+v", d)
	}
	c.Status.AcceptedNames = apiextensionsv1.CustomResourceDefinitionNames{Plural: "bars", Kind: "Bar"}
	if d := compile(t, c); d.Plural != "bars" || d.Singular != "bar" || d.ListKind != "BarList" || d.KeyPrefix != "example.com/bars" {
		t.Errorf("accepted: got %+v", d)
	}
}

func TestCompile_terminating(t *testing.T) {
	c := definition(t, "Foo", one(`{type: object}`))
	now := metav1.Now()
	c.DeletionTimestamp = &now
	if !compile(t, c).Terminating {
		t.Error("being deleted, but not terminating")
	}
	c.DeletionTimestamp = nil
	c.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Terminating, Status: "True"}}
	if !compile(t, c).Terminating {
		t.Error("the condition does not count")
	}
}

func TestCompile_errors(t *testing.T) {
	for name, c := range map[string]*apiextensionsv1.CustomResourceDefinition{
		"no names":        {},
		"no storage":      definition(t, "Foo", `[{name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}]`),
		"not structural":  definition(t, "Foo", one(`{type: object, properties: {a: {oneOf: [{type: string}], items: {$ref: x}}}}`)),
		"odd field paths": definition(t, "Foo", `[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}, selectableFields: [{jsonPath: ".a[0]"}]}]`),
	} {
		if d, err := Compile(c); err == nil {
			t.Errorf("%s: got %+v", name, d)
		}
	}
}

func TestDeprecation(t *testing.T) {
	c := definition(t, "CronTab", cronVersions)
	d := compile(t, c)
	if w := d.Version("v1beta1").Warning; w != "example.com/v1beta1 CronTab is deprecated; use example.com/v1 CronTab" {
		t.Errorf("got %q", w)
	}
	if v := d.Version("v1"); v.Deprecated || v.Warning != "" {
		t.Errorf("v1: %q", v.Warning)
	}
	own := "gone soon"
	c.Spec.Versions[0].DeprecationWarning = &own
	if w := compile(t, c).Version("v1beta1").Warning; w != own {
		t.Errorf("got %q", w)
	}
	c.Spec.Versions[0].DeprecationWarning = nil
	c.Spec.Versions[1].Served = false
	if w := compile(t, c).Version("v1beta1").Warning; w != "example.com/v1beta1 CronTab is deprecated" {
		t.Errorf("got %q", w)
	}
}

func TestTable(t *testing.T) {
	obj := &unstructured.Unstructured{Object: parse(t, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a","creationTimestamp":"2020-01-01T00:00:00Z"},"spec":{"replicas":3}}`)}
	columns := func(c *apiextensionsv1.CustomResourceDefinition) (string, []any) {
		table, err := compile(t, c).Versions[0].Table.ConvertToTable(context.Background(), obj, &metav1.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range table.ColumnDefinitions {
			names = append(names, c.Name+":"+c.Type+":"+c.Format)
		}
		return strings.Join(names, " "), table.Rows[0].Cells
	}
	c := definition(t, "Foo", one(`{type: object}`))
	t.Run("MT-16 default columns", func(t *testing.T) {
		if got, cells := columns(c); got != "Name:string:name Age:date:" || cells[0] != "a" || len(cells) != 2 {
			t.Errorf("got %s %v", got, cells)
		}
	})
	t.Run("CRD-06 own columns", func(t *testing.T) {
		c.Spec.Versions[0].AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Replicas", Type: "integer", JSONPath: ".spec.replicas"}}
		if got, cells := columns(c); got != "Name:string:name Replicas:integer:" || cells[1] != int64(3) {
			t.Errorf("got %s %v", got, cells)
		}
	})
	t.Run("bad columns", func(t *testing.T) {
		c.Spec.Versions[0].AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "X", Type: "string", JSONPath: ".spec["}}
		if got, _ := columns(c); got != "Name:string:name" {
			t.Errorf("got %s", got)
		}
	})
}

func TestSelectableFields(t *testing.T) {
	c := definition(t, "Foo", one(`{type: object, properties: {spec: {type: object, properties: {color: {type: string}, n: {type: integer}, on: {type: boolean}}}}}`))
	if v := compile(t, c).Versions[0]; v.SelectableFields != nil || v.Fields != nil {
		t.Error("fields without any")
	}
	c.Spec.Versions[0].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}, {JSONPath: ".spec.n"}, {JSONPath: ".spec.on"}}
	v := compile(t, c).Versions[0]
	if got := strings.Join(v.SelectableFields, " "); got != "spec.color spec.n spec.on" {
		t.Errorf("names: %s", got)
	}
	for in, want := range map[string]string{
		`{"spec":{"color":"red","n":3,"on":true}}`:  "spec.color=red,spec.n=3,spec.on=true",
		`{"spec":{"color":null}}`:                   "spec.color=,spec.n=,spec.on=",
		`{"spec":"x"}`:                              "spec.color=,spec.n=,spec.on=",
		`{"spec":{"color":"","n":1.5,"on":false}}`:  "spec.color=,spec.n=1.5,spec.on=false",
		`{"spec":{"n":9007199254740993,"color":1}}`: "spec.color=1,spec.n=9007199254740993,spec.on=",
	} {
		if got := v.Fields(parse(t, in)).String(); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestSubresources_CRD06(t *testing.T) {
	c := definition(t, "Foo", one(`{type: object, x-kubernetes-preserve-unknown-fields: true}`))
	if got := compile(t, c).Versions[0].Subresources; len(got) != 0 {
		t.Errorf("got %v", got)
	}
	selector := ".status.selector"
	c.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{
		Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
		Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: &selector},
	}
	got := compile(t, c).Versions[0].Subresources
	scale := got["scale"]
	if got["status"] == nil || scale == nil || scale.Kind.String() != "autoscaling/v1, Kind=Scale" ||
		!reflect.DeepEqual(*scale.Scale, crd.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: selector}) {
		t.Errorf("got %+v", got)
	}
}

// TestJSON_etcd reads and writes the bytes that kube-apiserver put into etcd
// (recorded by test/cmd/record).
func TestJSON_etcd(t *testing.T) {
	stored, err := os.ReadFile("testdata/stored.json")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := JSON.Decode(stored)
	if err != nil {
		t.Fatal(err)
	}
	if v := tree["metadata"].(map[string]any)["generation"]; v != int64(1) {
		t.Errorf("the generation is a %T", v)
	}
	got, err := JSON.Encode(tree)
	if err != nil || string(got) != string(stored) {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range []string{"", "null", "[]", `"x"`, "{", `{"a":1}x`, "\xd9\xd9\xf7\xf6", "\xd9\xd9\xf7", strings.Repeat(`{"a":`, 20000)} {
		if tree, err := JSON.Decode([]byte(bad)); err == nil {
			t.Errorf("%.20q became %v", bad, tree)
		}
	}
}
