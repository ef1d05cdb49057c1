package custom

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd"
)

// lazily compiles c as a server that starts does; texts replace schemas.
func lazily(t *testing.T, c *apiextensionsv1.CustomResourceDefinition, previous *crd.Definition, texts ...string) (*crd.Definition, error) {
	t.Helper()
	c = c.DeepCopy()
	schemas := make([][]byte, len(c.Spec.Versions))
	for i := range c.Spec.Versions {
		v := &c.Spec.Versions[i]
		if i < len(texts) && texts[i] != "" {
			schemas[i] = []byte(texts[i])
		} else if v.Schema != nil {
			text, err := json.Marshal(v.Schema.OpenAPIV3Schema)
			if err != nil {
				t.Fatal(err)
			}
			schemas[i] = text
		}
		v.Schema = nil
	}
	return CompileLazily(c, schemas, previous)
}

// twoVersions has a status, a scale and a selectable field at v1 only.
func twoVersions() *apiextensionsv1.CustomResourceDefinition {
	c := &apiextensionsv1.CustomResourceDefinition{}
	c.Name, c.UID = "foos.example.com", "u"
	c.Spec.Group, c.Spec.Scope = "example.com", apiextensionsv1.ClusterScoped
	c.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "foos", Kind: "Foo"}
	props := func(fields map[string]apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceValidation {
		return &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: fields}}
	}
	one := int64(1)
	c.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{
		{Name: "v1", Served: true, Storage: true, Schema: props(map[string]apiextensionsv1.JSONSchemaProps{
			"size": {Type: "integer", Default: &apiextensionsv1.JSON{Raw: []byte("1")}},
			"text": {Type: "string", MinLength: &one}, "status": {Type: "object"},
		}), Subresources: &apiextensionsv1.CustomResourceSubresources{
			Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
			Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".size", StatusReplicasPath: ".size"},
		}, SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".text"}}},
		{Name: "v2", Served: true, Schema: props(map[string]apiextensionsv1.JSONSchemaProps{"text": {Type: "string"}})},
	}
	return c
}

func lazyFoo(fields map[string]any) *unstructured.Unstructured {
	fields["apiVersion"], fields["kind"] = "example.com/v1", "Foo"
	fields["metadata"] = map[string]any{"name": "f", "uid": "u", "creationTimestamp": "2026-01-02T03:04:05Z"}
	return &unstructured.Unstructured{Object: fields}
}

// madeOf tells of which versions anything was compiled.
func madeOf(d *crd.Definition) map[string]*compiled {
	out := map[string]*compiled{}
	for _, v := range d.Versions {
		out[v.Name] = v.Shape.(*deferredShape).compiled
	}
	return out
}

func TestALazyDefinitionDoesWhatACompiledOneDoes(t *testing.T) {
	want, err := Compile(twoVersions())
	if err != nil {
		t.Fatal(err)
	}
	got, err := lazily(t, twoVersions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Versions {
		w := want.Versions[i]
		if v.Name != w.Name || v.Served != w.Served || !reflect.DeepEqual(v.SelectableFields, w.SelectableFields) || len(v.Subresources) != len(w.Subresources) {
			t.Errorf("%+v\nwant %+v", v, w)
		}
		if s := v.OpenAPISchema(); s == nil || !reflect.DeepEqual(s, w.OpenAPISchema()) {
			t.Errorf("schema %+v", s)
		}
		obj, other := lazyFoo(map[string]any{"text": "", "extra": true}), lazyFoo(map[string]any{"text": "", "extra": true})
		unknown, err := v.Shape.FromClient(obj.Object, true)
		wantUnknown, wantErr := w.Shape.FromClient(other.Object, true)
		if !reflect.DeepEqual(unknown, wantUnknown) || err != nil || wantErr != nil || !reflect.DeepEqual(obj, other) {
			t.Errorf("%s: %v %v of a client: %v", v.Name, unknown, err, obj)
		}
		for name, same := range map[string]func(s crd.Shape, obj map[string]any) error{
			"store": crd.Shape.FromStorage, "merge": crd.Shape.FromMerge, "conversion": crd.Shape.FromConversion, "part": func(s crd.Shape, obj map[string]any) error { return s.(crd.PartShape).FromPart(obj) },
		} {
			a, b := lazyFoo(map[string]any{"text": "x"}), lazyFoo(map[string]any{"text": "x"})
			if errA, errB := same(v.Shape, a.Object), same(w.Shape, b.Object); errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
				t.Errorf("%s of %s: %v, want %v", name, v.Name, a, b)
			}
			if v.Shape.Canonical(a.Object) != w.Shape.Canonical(b.Object) {
				t.Errorf("%s: %v is settled by one only", v.Name, a)
			}
		}
		for _, text := range []string{`{"apiVersion":"example.com/v1"}`, `{}`, `{"x":1}`} {
			if v.Unchanged([]byte(text)) != w.Unchanged([]byte(text)) {
				t.Errorf("%s: %s", v.Name, text)
			}
		}
		sameWrites(t, v, w)
	}
}

// sameWrites compares what the strategies of two versions do.
func sameWrites(t *testing.T, v, w *crd.Version) {
	t.Helper()
	ctx := context.Background()
	for _, text := range []string{"", "x"} {
		a, b := lazyFoo(map[string]any{"text": text, "status": map[string]any{}}), lazyFoo(map[string]any{"text": text, "status": map[string]any{}})
		a.SetFinalizers([]string{"unqualified"})
		b.SetFinalizers([]string{"unqualified"})
		v.Strategy.Prepare(ctx, a, nil)
		w.Strategy.Prepare(ctx, b, nil)
		if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(v.Strategy.Validate(ctx, a, nil), w.Strategy.Validate(ctx, b, nil)) {
			t.Errorf("%s: creating %q: %v, want %v", v.Name, text, a, b)
		}
		a, b = lazyFoo(map[string]any{"text": text}), lazyFoo(map[string]any{"text": text})
		if v.Strategy.(*strategy).Accept(ctx, "", a, nil) != w.Strategy.(*strategy).Accept(ctx, "", b, nil) || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: accepting %q: %v, want %v", v.Name, text, a, b)
		}
		for name, pair := range map[string][2]crd.Strategy{"": {v.Strategy, w.Strategy}, "status": {statusOf(v), statusOf(w)}} {
			if pair[0] == nil {
				continue
			}
			a, b, old := lazyFoo(map[string]any{"text": text, "status": map[string]any{"a": "b"}}), lazyFoo(map[string]any{"text": text, "status": map[string]any{"a": "b"}}), lazyFoo(map[string]any{})
			pair[0].Prepare(ctx, a, old)
			pair[1].Prepare(ctx, b, old)
			if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(pair[0].Validate(ctx, a, old), pair[1].Validate(ctx, b, old)) {
				t.Errorf("%s %s: updating to %q: %v, want %v", v.Name, name, text, a, b)
			}
			if !reflect.DeepEqual(pair[0].Resets(), pair[1].Resets()) {
				t.Errorf("%s %s: other fields are reset", v.Name, name)
			}
		}
	}
}

func statusOf(v *crd.Version) crd.Strategy {
	if s := v.Subresources["status"]; s != nil {
		return s.Update
	}
	return nil
}

func TestOnlyVersionsThatChangedAreCompiledAgain(t *testing.T) {
	first, err := lazily(t, twoVersions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := twoVersions()
	changed.Spec.Versions[1].Schema.OpenAPIV3Schema.Description = "another"
	changed.Spec.Versions[0].Served, changed.Spec.Versions[0].Deprecated = false, true // nothing is compiled of that
	changed.Spec.Names.ShortNames = []string{"f"}
	second, err := lazily(t, changed, first)
	if err != nil {
		t.Fatal(err)
	}
	before, after := madeOf(first), madeOf(second)
	if before["v1"] != after["v1"] {
		t.Error("a version that did not change is compiled again")
	}
	if before["v2"] == after["v2"] {
		t.Error("a version that changed is not compiled again")
	}
	if v := second.Version("v1"); v.Served || !v.Deprecated || v.Warning == "" {
		t.Errorf("what is not compiled did not change: %+v", v)
	}
	for name, change := range map[string]func(*apiextensionsv1.CustomResourceDefinition){
		"kind":         func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Names.Kind = "Bar" },
		"scope":        func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Scope = apiextensionsv1.NamespaceScoped },
		"group":        func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Group = "example.org" },
		"preserving":   func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.PreserveUnknownFields = true },
		"subresources": func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Versions[0].Subresources = nil },
		"fields":       func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Versions[0].SelectableFields = nil },
	} {
		c := twoVersions()
		change(c)
		other, err := lazily(t, c, first)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if madeOf(other)["v1"] == before["v1"] {
			t.Errorf("%s: it is not compiled again", name)
		}
	}
}

const notStructural = `{"type":"object","$ref":"#/x"}`

func TestASchemaThatCannotBeCompiledFailsItsUses(t *testing.T) {
	for name, text := range map[string]string{"not structural": notStructural, "not JSON": `{"type":`, "not a schema": `[]`} {
		d, err := lazily(t, twoVersions(), nil, text)
		if err != nil {
			t.Fatalf("%s: it fails the other version too: %v", name, err)
		}
		v, obj := d.Version("v1"), lazyFoo(map[string]any{})
		if _, err := v.Shape.FromClient(obj.Object, false); err == nil {
			t.Errorf("%s: an object was read", name)
		}
		for _, f := range []func(map[string]any) error{v.Shape.FromStorage, v.Shape.FromMerge, v.Shape.FromConversion, v.Shape.(crd.PartShape).FromPart} {
			if f(obj.Object) == nil {
				t.Errorf("%s: an object was completed", name)
			}
		}
		ctx, s := context.Background(), v.Strategy.(*strategy)
		s.Prepare(ctx, obj, nil)
		s.Prepare(ctx, obj, obj)
		if v.Shape.Canonical(obj.Object) || v.Unchanged([]byte("{}")) || s.Accept(ctx, "", obj, nil) || s.Accept(ctx, "", obj, obj) || s.Resets() != nil {
			t.Errorf("%s: something is known of an object", name)
		}
		created, updated := s.Validate(ctx, obj, nil), s.Validate(ctx, obj, obj)
		if len(created.Errors) != 1 || len(updated.Errors) != 1 || created.Warnings != nil || updated.Warnings != nil {
			t.Errorf("%s: an object is valid", name)
		}
		if _, err := d.Version("v2").Shape.FromClient(obj.Object, false); err != nil {
			t.Errorf("%s: the other version: %v", name, err)
		}
	}
}

func TestAChangeThatCannotBeCompiledFailsAtOnce(t *testing.T) {
	first, err := lazily(t, twoVersions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := lazily(t, twoVersions(), first, notStructural); err == nil {
		t.Errorf("it was taken: %v", d)
	}
	c := twoVersions()
	c.Spec.Versions[0].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".a["}}
	if d, err := lazily(t, c, nil); err == nil {
		t.Errorf("a field that cannot be selected was taken: %v", d)
	}
}
