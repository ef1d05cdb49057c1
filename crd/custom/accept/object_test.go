package accept

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd/object"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// structural is a schema as lists are compiled from it.
func structural(t *testing.T, text string) *structuralschema.Structural {
	t.Helper()
	var v1 apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict([]byte(text), &v1); err != nil {
		t.Fatal(err)
	}
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &in, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(&in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const widgets = `{type: object, properties: {spec: {type: object, properties: {size: {type: integer},
	groups: {type: array, items: {type: array, x-kubernetes-list-type: set, items: {type: string}}},
	named: {type: object, additionalProperties: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}}}}`

// widgetsOf accepts Widgets of a group, in namespaces or without.
func widgetsOf(t *testing.T, namespaced bool) *Object {
	t.Helper()
	_, rule := compile(t, widgets)
	return NewObject("example.com/v1", "Widget", namespaced, structural(t, widgets), rule)
}

// widget is an object with metadata and a spec, as JSON.
func widget(t *testing.T, meta, spec string) *unstructured.Unstructured {
	t.Helper()
	out, _, err := object.Parse([]byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":` + meta + `,"spec":` + spec + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: out}
}

const owner = `{"apiVersion":"apps/v1","kind":"Deployment","name":"d","uid":"u"`

// What new objects may have in their metadata without anybody else being asked.
func TestMetadataOfNewObjectsIsAccepted(t *testing.T) {
	few, many := strings.Repeat("x", maxAnnotations-1), strings.Repeat("x", maxAnnotations)
	for fields, want := range map[string]bool{
		`"uid":"u","generation":0,"resourceVersion":"","creationTimestamp":"2026-01-01T00:00:00Z"`: true,
		`"uid":1`: false, `"resourceVersion":1`: false, `"generation":-1`: false, `"generation":"1"`: false,
		`"creationTimestamp":"soon"`: false, `"creationTimestamp":1`: false, `"odd":"x"`: false, `"finalizers":["a/b"]`: false,
		`"labels":{"a":"b","c":""}`: true, `"labels":{}`: true, `"labels":[]`: false, `"labels":{"a b":"c"}`: false, `"labels":{"A.b/c":"d"}`: false,
		`"labels":{"a":"b c"}`: false, `"labels":{"a":1}`: false,
		`"annotations":{"A.b/c":"d e"}`: true, `"annotations":{}`: true, `"annotations":1`: false, `"annotations":{"a b":""}`: false, `"annotations":{"a":1}`: false,
		`"annotations":{"a":"` + few + `"}`: true, `"annotations":{"a":"` + many + `"}`: false, `"annotations":{"a":"","b":"` + few + `"}`: false,
		`"ownerReferences":[]`: true, `"ownerReferences":{}`: false, `"ownerReferences":[1]`: false,
		`"ownerReferences":[` + owner + `}]`: true, `"ownerReferences":[` + owner + `,"odd":"x"}]`: false,
		`"ownerReferences":[` + owner + `,"controller":true,"blockOwnerDeletion":true},` + owner + `,"controller":false}]`: true,
		`"ownerReferences":[` + owner + `,"controller":true},` + owner + `,"controller":true}]`:                            false,
		`"ownerReferences":[` + owner + `,"controller":"true"}]`:                                                           false,
		`"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"d"}]`:                                                  false,
		`"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"d","uid":1}]`:                                          false,
		`"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"d","uid":""}]`:                                         false,
		`"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"","uid":"u"}]`:                                         false,
		`"ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"d","uid":"u"}]`:                                      false,
		`"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"d","uid":"u"}]`:                                        true,
		`"ownerReferences":[{"apiVersion":"a/","kind":"Pod","name":"d","uid":"u"}]`:                                        false,
		`"ownerReferences":[{"apiVersion":"/v1","kind":"Pod","name":"d","uid":"u"}]`:                                       false,
		`"ownerReferences":[{"apiVersion":"a/b/c","kind":"Pod","name":"d","uid":"u"}]`:                                     false,
	} {
		if got := widgetsOf(t, false).Accepts(widget(t, `{"name":"a",`+fields+`}`, `{}`), nil); got != want {
			t.Errorf("%.90s: %t", fields, got)
		}
	}
}

// Where an object is has to be as its kind says, and it has to be of that kind.
func TestNamesOfNewObjectsAreAccepted(t *testing.T) {
	for meta, want := range map[string][2]bool{
		`{"name":"a"}`: {true, false}, `{"name":"a","namespace":"b"}`: {false, true}, `{"name":"a","namespace":"b.c"}`: {false, false},
		`{"namespace":"b"}`: {false, false}, `{}`: {false, false}, `{"name":"A"}`: {false, false}, `{"name":"a","namespace":1}`: {false, false},
	} {
		for i, namespaced := range []bool{false, true} {
			if got := widgetsOf(t, namespaced).Accepts(widget(t, meta, `{}`), nil); got != want[i] {
				t.Errorf("%s, in namespaces %t: %t", meta, namespaced, got)
			}
		}
	}
	for name, change := range map[string]func(o map[string]any){
		"kind": func(o map[string]any) { o["kind"] = "Other" }, "version": func(o map[string]any) { o["apiVersion"] = "example.com/v2" },
		"metadata": func(o map[string]any) { o["metadata"] = "a" }, "none": func(o map[string]any) { delete(o, "metadata") },
	} {
		obj := widget(t, `{"name":"a"}`, `{}`)
		change(obj.Object)
		if widgetsOf(t, false).Accepts(obj, nil) {
			t.Errorf("another %s is accepted", name)
		}
	}
	var nobody *Object
	if nobody.Accepts(widget(t, `{"name":"a"}`, `{}`), nil) {
		t.Error("nobody accepts")
	}
}

// The content is judged by the schema, and lists in it wherever they are.
func TestContentOfObjectsIsAccepted(t *testing.T) {
	for spec, want := range map[string]bool{
		`{"size":1}`: true, `{"size":"1"}`: false,
		`{"groups":[["a","b"],["a"]]}`: true, `{"groups":[["a"],["b","b"]]}`: false,
		`{"named":{"x":["a"],"y":["a"]}}`: true, `{"named":{"x":["a","a"],"y":["a"]}}`: false,
	} {
		if got := widgetsOf(t, false).Accepts(widget(t, `{"name":"a"}`, spec), nil); got != want {
			t.Errorf("%s: %t", spec, got)
		}
	}
}

// What a change may do to metadata without anybody else being asked.
func TestChangesOfMetadataAreAccepted(t *testing.T) {
	const is = `"name":"a","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z"`
	for _, c := range []struct {
		was, now string
		want     bool
	}{
		{is, is + `,"resourceVersion":"1"`, true}, {is, is, false},
		{is, is + `,"resourceVersion":"1","generateName":"a-","finalizers":["x"],"labels":{"a":"b"}`, true},
		{is, is + `,"resourceVersion":"1","generateName":1`, false}, {is, is + `,"resourceVersion":"1","finalizers":[1]`, false},
		{is, is + `,"resourceVersion":"1","labels":{"a b":""}`, false}, {is, is + `,"resourceVersion":"1","odd":""`, false},
		{is, `"name":"b","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z","resourceVersion":"1"`, false},
		{is, `"name":"a","uid":"v","creationTimestamp":"2026-01-01T00:00:00Z","resourceVersion":"1"`, false},
		{is, `"name":"a","creationTimestamp":"2026-01-01T00:00:00Z","resourceVersion":"1"`, false},
		{is + `,"namespace":"n"`, is + `,"namespace":"n","resourceVersion":"1"`, true}, {is + `,"namespace":"n"`, is + `,"resourceVersion":"1"`, false},
		{is + `,"namespace":1`, is + `,"namespace":1,"resourceVersion":"1"`, false},
		{is + `,"deletionTimestamp":"2026-01-01T00:00:00Z"`, is + `,"resourceVersion":"1"`, false},
		{is + `,"deletionGracePeriodSeconds":1`, is + `,"resourceVersion":"1"`, false},
		{is + `,"labels":null`, is + `,"resourceVersion":"1"`, false}, {is + `,"odd":1`, is + `,"resourceVersion":"1"`, false},
		{is + `,"generation":2`, is + `,"resourceVersion":"1","generation":1`, false},
	} {
		if got := widgetsOf(t, false).Accepts(widget(t, "{"+c.now+"}", `{}`), widget(t, "{"+c.was+"}", `{}`)); got != c.want {
			t.Errorf("%s after %s: %t", c.now, c.was, got)
		}
	}
	old := widget(t, "{"+is+"}", `{}`)
	old.Object["metadata"] = "a"
	if widgetsOf(t, false).Accepts(widget(t, `{`+is+`,"resourceVersion":"1"}`, `{}`), old) {
		t.Error("a change of what has no metadata is accepted")
	}
}

// Metadata loses what is empty, and is told to be odd where it is.
func TestMetadataIsTidied(t *testing.T) {
	for meta, want := range map[string]string{
		`{"name":"a","labels":{},"annotations":{"a":"b"},"uid":"","generation":0,"finalizers":[],"ownerReferences":[],"selfLink":null}`: "map[annotations:map[a:b] name:a]",
		`{"generation":1,"deletionGracePeriodSeconds":0,"deletionTimestamp":"2026-01-01T00:00:00Z"}`:                                    "map[deletionGracePeriodSeconds:0 deletionTimestamp:2026-01-01T00:00:00Z generation:1]",
		`{"ownerReferences":[` + owner + `}]}`: "map[ownerReferences:[map[apiVersion:apps/v1 kind:Deployment name:d uid:u]]]",
		`{"name":1}`:                           "", `{"generation":"1"}`: "", `{"deletionGracePeriodSeconds":"1"}`: "", `{"deletionTimestamp":"x"}`: "", `{"labels":{"a":1}}`: "",
		`{"labels":[]}`: "", `{"finalizers":[1]}`: "", `{"ownerReferences":[1]}`: "", `{"managedFields":1}`: "", `{"odd":"x"}`: "", `{"odd":null}`: "", `{"name":{}}`: "",
	} {
		m := widget(t, meta, `{}`).Object["metadata"].(map[string]any)
		if ok := TidyMetadata(m); ok != (want != "") || ok && fmt.Sprint(m) != want {
			t.Errorf("%s: %t, %v", meta, ok, m)
		}
	}
	if empty, ok := TidyField("managedFields", object.Managed{}); empty || !ok {
		t.Errorf("managed fields: empty %t, ok %t", empty, ok)
	}
}
