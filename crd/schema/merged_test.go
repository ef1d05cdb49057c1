package schema

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// Everything in the table is of a type that there is, and says what its tags do
// not.
func TestTheTableSaysWhatTagsDoNot(t *testing.T) {
	table, err := merged()
	if err != nil || len(table) == 0 {
		t.Fatalf("%d entries, %v", len(table), err)
	}
	unused := maps.Clone(table)
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ = indirect(typ); {
		case seen[typ]:
			return
		case typ.Kind() == reflect.Slice, typ.Kind() == reflect.Map:
			walk(typ.Elem())
			return
		case typ.Kind() != reflect.Struct:
			return
		}
		seen[typ] = true
		delete(unused, Name(typ))
		for _, f := range Fields(typ) {
			name := Name(typ) + "." + f.Name
			if how, said := table[name]; said && how == tagged(f) {
				t.Errorf("%s: the tags say it, too", name)
			}
			delete(unused, name)
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]())
	for _, typ := range scheme.Scheme.AllKnownTypes() {
		walk(typ)
	}
	if len(unused) > 0 {
		t.Errorf("there are no %v", slices.Sorted(maps.Keys(unused)))
	}
}

// What a missing key of an item is taken for: what the table says, or else the
// zero value of what is always written.
func TestKeysOfTheTable_SSA18(t *testing.T) {
	type item struct {
		Number int32  `json:"number"`
		Name   string `json:"name,omitempty"`
		Left   string `json:"left,omitempty"`
	}
	type list struct {
		Items []item `json:"items"`
	}
	p := For(reflect.TypeFor[list]()).Properties["items"]
	mapBy(&p, Fields(reflect.TypeFor[list]())[0], []string{"number", "name=TCP", "left"})
	if p.XListType == nil || *p.XListType != "map" || !slices.Equal(p.XListMapKeys, []string{"number", "name", "left"}) {
		t.Errorf("%+v", p)
	}
	for key, want := range map[string]string{"number": "0", "name": `"TCP"`, "left": ""} {
		got := ""
		if d := p.Items.Schema.Properties[key].Default; d != nil {
			got = string(d.Raw)
		}
		if got != want {
			t.Errorf("%s is taken for %q, want %q", key, got, want)
		}
	}
}
