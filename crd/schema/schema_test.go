package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestSchemasAreStructural(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[corev1.Namespace](),
		reflect.TypeFor[corev1.ConfigMap](),
		reflect.TypeFor[corev1.Secret](),
		reflect.TypeFor[corev1.ServiceAccount](),
		reflect.TypeFor[corev1.Event](),
		reflect.TypeFor[corev1.Pod](),
		reflect.TypeFor[*coordinationv1.Lease](),
		reflect.TypeFor[storagemigrationv1.StorageVersionMigration](),
		reflect.TypeFor[apiextensionsv1.CustomResourceDefinition](),
	} {
		s := For(typ)
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s, internal, nil); err != nil {
			t.Fatal(err)
		}
		structural, err := structuralschema.NewStructural(internal)
		if err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		if errs := structuralschema.ValidateStructural(nil, structural); len(errs) > 0 {
			t.Errorf("%s: %v", typ, errs.ToAggregate())
		}
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			if _, ok := s.Properties[name]; ok {
				t.Errorf("%s: %s was not left out", typ, name)
			}
		}
	}
}

type recursive struct {
	Name  string       `json:"name"`
	Items []*recursive `json:"items"`
	Same  *recursive   `json:"same,omitempty"`
}

type sample struct {
	metav1.TypeMeta `json:",inline"`
	Bytes           []byte                `json:"bytes"`
	Number          int32                 `json:"number,omitempty"`
	Big             *int64                `json:"big,omitempty"`
	Port            intstr.IntOrString    `json:"port"`
	Memory          resource.Quantity     `json:"memory"`
	At              metav1.Time           `json:"at"`
	For             metav1.Duration       `json:"for"`
	Raw             runtime.RawExtension  `json:"raw"`
	Any             *apiextensionsv1.JSON `json:"any,omitempty"`
	Map             map[string][]string   `json:"map"`
	Tree            recursive             `json:"tree"`
	Skipped         string                `json:"-"`
	Names           []string              `json:"names" patchStrategy:"merge"`
	Items           []recursive           `json:"list" patchStrategy:"merge" patchMergeKey:"name"`
}

func (sample) SwaggerDoc() map[string]string {
	return map[string]string{"": "A sample.", "number": "A number."}
}

func TestTypes(t *testing.T) {
	s := For(reflect.TypeFor[sample]())
	if s.Description != "A sample." || s.Properties["number"].Description != "A number." {
		t.Error("descriptions are missing")
	}
	for name, want := range map[string]apiextensionsv1.JSONSchemaProps{
		"bytes":  {Type: "string", Format: "byte"},
		"big":    {Type: "integer", Format: "int64"},
		"port":   {XIntOrString: true},
		"memory": {XIntOrString: true},
		"at":     {Type: "string", Format: "date-time"},
		"for":    {Type: "string"},
		"raw":    {Type: "object", XPreserveUnknownFields: ptr(true), XMapType: ptr("atomic")},
		"any":    {XPreserveUnknownFields: ptr(true)},
	} {
		if got := s.Properties[name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, ok := s.Properties["Skipped"]; ok {
		t.Error("a field that JSON skips is there")
	}
	if m := s.Properties["map"].AdditionalProperties; m == nil || m.Schema.Items.Schema.Type != "string" {
		t.Error("the map has no values")
	}
	if names := s.Properties["names"]; names.XListType == nil || *names.XListType != "set" {
		t.Error("names are not a set")
	}
	list := s.Properties["list"]
	if list.XListType == nil || *list.XListType != "map" || !reflect.DeepEqual(list.XListMapKeys, []string{"name"}) {
		t.Errorf("list is not a map: %+v", list)
	}
	tree := s.Properties["tree"]
	inner := tree.Properties["items"].Items.Schema
	if inner.Type != "object" || inner.XPreserveUnknownFields == nil || inner.Properties != nil {
		t.Errorf("recursion does not end: %+v", inner)
	}
}

// What is owned as a whole, and what is merged by which key, is as
// kube-apiserver publishes it.
func TestOwnershipOfBuiltinFields_SSA18_SSA19_SSA20(t *testing.T) {
	field := func(typ reflect.Type, path ...string) apiextensionsv1.JSONSchemaProps {
		s := *For(typ)
		for _, name := range path {
			if name == "[]" {
				s = *s.Items.Schema
			} else {
				s = s.Properties[name]
			}
		}
		return s
	}
	account := reflect.TypeFor[corev1.ServiceAccount]()
	definition := reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()
	for _, test := range []struct {
		name string
		s    apiextensionsv1.JSONSchemaProps
		want string
	}{
		{"a reference", field(reflect.TypeFor[corev1.Event](), "involvedObject"), "atomic"},
		{"an item of references", field(account, "secrets", "[]"), "atomic"},
		{"an item that names something", field(account, "imagePullSecrets", "[]"), "atomic"},
		{"a struct like any other", field(definition, "spec", "names"), ""},
	} {
		got := ""
		if test.s.XMapType != nil {
			got = *test.s.XMapType
		}
		if got != test.want {
			t.Errorf("%s has map type %q, not %q", test.name, got, test.want)
		}
	}
	for _, test := range []struct {
		name  string
		list  apiextensionsv1.JSONSchemaProps
		key   string
		empty bool
	}{
		{"secrets, whose key may be left out", field(account, "secrets"), "name", false},
		{"conditions of a namespace", field(reflect.TypeFor[corev1.Namespace](), "status", "conditions"), "type", true},
		{"conditions without tags", field(definition, "status", "conditions"), "type", true},
	} {
		if test.list.XListType == nil || *test.list.XListType != "map" || len(test.list.XListMapKeys) != 1 || test.list.XListMapKeys[0] != test.key {
			t.Errorf("%s: list type %v by %v, not a map by %s", test.name, test.list.XListType, test.list.XListMapKeys, test.key)
			continue
		}
		if d := test.list.Items.Schema.Properties[test.key].Default; (d != nil) != test.empty {
			t.Errorf("%s: default of the key %v", test.name, d)
		}
	}
}

// Label is embedded without being a struct, so JSON has it by its name.
type Label string

type embedded struct {
	A string `json:"a"`
}

type keyed struct {
	Key   string `json:"key"`
	Other string `json:"other"`
	Left  string `json:"left,omitempty"`
}

type odd struct {
	Label
	embedded
	Keyed    []keyed                 `json:"keyed" patchStrategy:"merge" patchMergeKey:"key"`
	Omitted  []keyed                 `json:"omitted" patchStrategy:"merge" patchMergeKey:"left"`
	Refs     []metav1.OwnerReference `json:"refs"`
	Selector *metav1.LabelSelector   `json:"selector"`
}

func TestFieldsAreWhatJSONHas(t *testing.T) {
	s := For(reflect.TypeFor[odd]())
	for name, want := range map[string]bool{"Label": true, "a": true, "embedded": false, "keyed": true} {
		if _, ok := s.Properties[name]; ok != want {
			t.Errorf("%s is there: %t", name, ok)
		}
	}
	text, err := json.Marshal(odd{})
	if err != nil || !strings.HasPrefix(string(text), `{"Label":"","a":"",`) {
		t.Errorf("JSON has %s, %v", text, err)
	}
}

// An item that says nothing of its key has the empty one, if its type always
// prints it; no other field has a default.
func TestKeysOfItemsHaveDefaults_SSA18(t *testing.T) {
	s := For(reflect.TypeFor[odd]())
	for list, want := range map[string]string{"keyed": "key", "omitted": ""} {
		for name, p := range s.Properties[list].Items.Schema.Properties {
			if (p.Default != nil) != (name == want) {
				t.Errorf("%s of %s has the default %v", name, list, p.Default)
			}
		}
	}
	if x := s.Properties["refs"].Items.Schema.XMapType; x == nil || *x != "atomic" {
		t.Error("an owner reference is not owned as a whole")
	}
	if x := s.Properties["selector"].XMapType; x == nil || *x != "atomic" {
		t.Error("a label selector is not owned as a whole")
	}
}

// What contains itself refers to itself, and is the same otherwise.
func TestRecursiveTypesReferToThemselves(t *testing.T) {
	s := Recursive(reflect.TypeFor[*sample]())
	if _, ok := s.Properties["kind"]; ok || s.ID == "" {
		t.Errorf("the whole: %q with %d fields", s.ID, len(s.Properties))
	}
	tree := s.Properties["tree"]
	inner, same := tree.Properties["items"].Items.Schema, tree.Properties["same"]
	if tree.ID == "" || inner.Ref == nil || *inner.Ref != tree.ID || inner.XPreserveUnknownFields != nil || same.Ref == nil || *same.Ref != tree.ID {
		t.Errorf("the tree %q refers to %+v", tree.ID, inner)
	}
	if list := s.Properties["list"]; list.Items.Schema.ID != tree.ID || list.Items.Schema.Ref != nil {
		t.Errorf("what is not in itself: %+v", list.Items.Schema)
	}
	if f := For(reflect.TypeFor[sample]()); f.ID != "" || f.Properties["tree"].ID != "" {
		t.Error("schemas have ids")
	}
}
