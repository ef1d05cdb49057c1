package crd

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestADefinitionNamesItsParts(t *testing.T) {
	first, second := &Version{Name: "v2"}, &Version{Name: "v1"}
	d := &Definition{Group: "example.com", Plural: "tabs", Kind: "Tab", Versions: []*Version{first, second}}
	if d.Version("v2") != first || d.Version("v1") != second || d.Version("v3") != nil {
		t.Error("a version is not found by its name, or one is that is not there")
	}
	if got := d.GroupResource().String(); got != "tabs.example.com" {
		t.Errorf("the resource is %s", got)
	}
	if got := d.GVK("v1"); got != (schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Tab"}) {
		t.Errorf("the kind is %s", got)
	}
	if got := d.APIVersion("v1"); got != "example.com/v1" {
		t.Errorf("the apiVersion is %s", got)
	}
	if got := (&Definition{}).APIVersion("v1"); got != "v1" {
		t.Errorf("the apiVersion of the core group is %s", got)
	}
}

// Another group's version is told by its name.
func TestVersionsOfAnotherGroup(t *testing.T) {
	own, other := &Version{Name: "v1"}, &Version{Name: "example.com/v1"}
	d := &Definition{Plural: "tabs", Kind: "Tab", Versions: []*Version{own, other}}
	for name, want := range map[string]schema.GroupVersionKind{"v1": {Version: "v1", Kind: "Tab"}, "example.com/v1": {Group: "example.com", Version: "v1", Kind: "Tab"}} {
		if got := d.GVK(name); got != want || d.APIVersion(name) != name || d.GVR(name) != want.GroupVersion().WithResource("tabs") {
			t.Errorf("%s is %v, %s, %v", name, got, d.APIVersion(name), d.GVR(name))
		}
	}
	if d.At("v1") != own || d.At("example.com/v1") != other || d.At("example.com/v2") != nil || d.At("/v1") != nil || d.At("a/example.com/v1") != nil || d.At("") != nil {
		t.Error("a version is not found by its apiVersion, or one is that is not there")
	}
	if got := d.Groups(); !slices.Equal(got, []string{"", "example.com"}) {
		t.Errorf("groups %q", got)
	}
	for _, gr := range []string{"tabs", "tabs.example.com"} {
		if !d.Is(schema.ParseGroupResource(gr)) {
			t.Errorf("it is not %s", gr)
		}
	}
	if d.Is(schema.ParseGroupResource("tabs.example.org")) || d.Is(schema.ParseGroupResource("others")) || d.GroupKind().String() != "Tab" {
		t.Error("it is something else")
	}
}

func TestAllVerbsAreServedUnlessSomeAreNamed(t *testing.T) {
	if got := (&Definition{}).ServedVerbs(); len(got) != 8 || !slices.IsSorted(got) {
		t.Errorf("got %v", got)
	}
	if got := (&Definition{Verbs: []string{"get"}}).ServedVerbs(); !slices.Equal(got, []string{"get"}) {
		t.Errorf("got %v", got)
	}
	if got := (&Definition{Verbs: []string{}}).ServedVerbs(); len(got) != 0 {
		t.Errorf("none is named, and served are %v", got)
	}
}

func TestAVersionIsNativeWhenItHasAGoType(t *testing.T) {
	if (&Version{}).Native() {
		t.Error("without a type")
	}
	if !(&Version{Typed: func() runtime.Object { return &runtime.Unknown{} }}).Native() {
		t.Error("with a type")
	}
}

// Every request looks for its version.
func TestFindingAVersionCostsNoMemory(t *testing.T) {
	v := &Version{Name: "v1"}
	d := &Definition{Group: "example.com", Versions: []*Version{{Name: "v2"}, v, {Name: "example.org/v1"}}}
	if n := testing.AllocsPerRun(100, func() {
		if d.In("example.com", "v1") != v || d.At("example.com/v1") != v {
			t.Fatal("not found")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The schema of a version is kept as it is or as text; of one that cannot be read nothing is
// known.
func TestSchemasOfVersions(t *testing.T) {
	given := &apiextensionsv1.JSONSchemaProps{Type: "object"}
	text := []byte(`{"type":"object","maxProperties":3}`)
	for name, c := range map[string]struct {
		v    Version
		want int64 // properties, -1 for no schema
	}{
		"none":              {Version{}, -1},
		"as it is":          {Version{Schema: func() *apiextensionsv1.JSONSchemaProps { return given }, SchemaText: text}, 0},
		"as text":           {Version{SchemaText: text}, 3},
		"that is no schema": {Version{SchemaText: []byte(`{"type":3}`)}, -1},
	} {
		got := c.v.OpenAPISchema()
		if (got == nil) != (c.want < 0) || got != nil && (got.Type != "object" || c.want > 0 && (got.MaxProperties == nil || *got.MaxProperties != c.want)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := ReadSchema([]byte(`{"type":3}`)); err == nil || !strings.HasPrefix(err.Error(), "schema: ") {
		t.Errorf("%v", err)
	}
}
