package openapi

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/lifecycle"
)

// version2 is the document of defs, as text and read.
func version2(t *testing.T, d *Documents) ([]byte, *spec.Swagger) {
	t.Helper()
	pieces, _, _, ok := d.Lookup("/openapi/v2", "application/json")
	body := pieces.Joined()
	doc := &spec.Swagger{}
	if err := json.Unmarshal(body, doc); err != nil || !ok {
		t.Fatalf("%v: %.200s", err, body)
	}
	return body, doc
}

func TestADocumentJoinedFromFragmentsIsTheLibrarys(t *testing.T) {
	body, doc := version2(t, documents(t, append(builtins(t), disks(t, "disc.example.com", "a"), listed(t)), nil))
	again, err := doc.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var a, b map[string]any
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(again, &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) || len(doc.Paths.Paths) == 0 || len(doc.Definitions) == 0 || len(doc.Parameters) == 0 {
		t.Error("the text says something else than the document that it is read as")
	}
	for name, p := range doc.Paths.Paths {
		if p.Get == nil && p.Put == nil && p.Post == nil {
			t.Errorf("%s has no operations", name)
		}
	}
}

func TestProtobufJoinedFromFragmentsIsTheLibrarys(t *testing.T) {
	docs := documents(t, append(builtins(t), disks(t, "disc.example.com", "a"), listed(t)), nil)
	text, _ := version2(t, docs)
	want, err := openapiv2.ParseDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	body, _, _, _ := docs.Lookup("/openapi/v2", v2Protobuf)
	got := &openapiv2.Document{}
	if err := proto.Unmarshal(body.Joined(), got); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(got, want) {
		t.Error("it says something else than the JSON")
	}
}

func TestWhatManyKindsHaveIsKeptOnce(t *testing.T) {
	docs := documents(t, []*crd.Definition{disks(t, "a.example.com", "a"), disks(t, "b.example.com", "a")}, nil)
	version2(t, docs)
	byName := map[string][]*fragment{}
	for _, k := range docs.v2.kinds {
		for _, f := range k.v2() {
			byName[f.name] = append(byName[f.name], f)
		}
	}
	common := 0
	for name, all := range byName {
		if len(all) == 2 && all[0] != all[1] {
			t.Errorf("there are two of %s", name)
		}
		common += len(all) - 1
	}
	if common == 0 {
		t.Error("nothing is common")
	}
	if own := byName["com.example.a.v1.Disk"]; len(own) != 1 || own[0].section != definitionSection {
		t.Errorf("a kind's own schema: %v", own)
	}
}

// A definition that changed in something that no document shows, or one version
// of which did not change, is not described again.
func TestKindsThatAreTheSameAreNotDescribedAgain(t *testing.T) {
	first := documents(t, []*crd.Definition{disks(t, "one.example.com", "a"), disks(t, "two.example.com", "a")}, nil)
	second := documents(t, []*crd.Definition{disks(t, "one.example.com", "a"), disks(t, "two.example.com", "b")}, first)
	if first.byKey["one.example.com/v1/disks"] != second.byKey["one.example.com/v1/disks"] {
		t.Error("what is the same is described again")
	}
	if first.byKey["two.example.com/v1/disks"] == second.byKey["two.example.com/v1/disks"] {
		t.Error("what changed is not described again")
	}
}

// Another build may describe the same otherwise, and clients keep what has the same hash.
func TestHashesAreThoseOfABuild(t *testing.T) {
	k := documents(t, []*crd.Definition{disks(t, "one.example.com", "a")}, nil).byKey["one.example.com/v1/disks"]
	one, err := k.makeHash("v1 of abc")
	other, err2 := k.makeHash("v1 of abd")
	again, err3 := k.makeHash(build())
	if err != nil || err2 != nil || err3 != nil || one == other || again != k.hash() || !strings.Contains(build(), lifecycle.GitVersion) {
		t.Errorf("%s, %s, %s of %s; %v, %v, %v", one, other, again, build(), err, err2, err3)
	}
}

func TestABuilderThatPanicsIsAnError(t *testing.T) {
	out, err := made(func() (fragments, error) { panic("too much") })
	if err == nil || out != nil || !strings.Contains(err.Error(), "too much") {
		t.Errorf("%v, %v", out, err)
	}
}

func TestFragmentsThatCannotBeEncoded(t *testing.T) {
	f, err := newFragment(definitionSection, "d", []byte(`{"type":`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.protobuf(); err == nil {
		t.Error("half a schema is one")
	}
	if _, err := joinProtobuf([sections]fragments{definitionSection: {f}}); err == nil {
		t.Error("a document has it")
	}
	doc := &spec.Swagger{SwaggerProps: spec.SwaggerProps{Paths: &spec.Paths{}, Definitions: spec.Definitions{
		"d": {SchemaProps: spec.SchemaProps{Default: make(chan int)}},
	}}}
	if _, err := fragmentsOf(doc, nil); err == nil {
		t.Error("a channel was encoded")
	}
}

// Inside items as anywhere else: no defaults, and nothing that version 2 lacks.
func TestVersion2InsideArrayItems(t *testing.T) {
	d := disks(t, "disc.example.com", "a")
	deep := apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
		Type: "object", Required: []string{"a", "b"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"a": {Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"x"`)}},
			"b": {Type: "string", Nullable: true},
			"c": {XPreserveUnknownFields: &[]bool{true}[0], Type: "object"},
			"d": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"e": {Type: "integer", Default: &apiextensionsv1.JSON{Raw: []byte(`1`)}}},
			}}},
		},
	}}}
	d.Versions[0].OpenAPISchema().Properties["deep"] = deep
	_, doc := version2(t, documents(t, []*crd.Definition{d}, nil))
	items := doc.Definitions["com.example.disc.v1.Disk"].Properties["deep"].Items.Schema
	text, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("default")) {
		t.Errorf("defaults: %s", text)
	}
	if b := items.Properties["b"]; len(b.Type) != 0 || b.Nullable {
		t.Errorf("nullable: %s", text)
	}
	if len(items.Required) != 1 || items.Required[0] != "a" || len(items.Properties["c"].Type) != 0 {
		t.Errorf("required, open: %s", text)
	}
}
