package managedfields

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/crd"
)

func TestOverlays(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	list := func(kind string) apiextensionsv1.JSONSchemaProps {
		items := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"name": text, "v": text}}
		out := apiextensionsv1.JSONSchemaProps{Type: "array", XListType: &kind, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}}
		if kind == "map" {
			out.XListMapKeys = []string{"name"}
		}
		return out
	}
	atomic := "atomic"
	schema := &apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"a": text, "b": text, "byName": list("map"), "whole": list("atomic"),
			"struct": {Type: "object", XMapType: &atomic, Properties: map[string]apiextensionsv1.JSONSchemaProps{"x": text}},
			"free":   {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &text}},
		},
	}
	k := NewKind(&crd.Definition{Group: "example.com", Kind: "Tab", Versions: []*crd.Version{
		{Name: "v1", Schema: func() *apiextensionsv1.JSONSchemaProps { return schema }},
	}})
	object := func(more map[string]any) map[string]any {
		out := map[string]any{"apiVersion": "example.com/v1", "kind": "Tab"}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	item := func(name, v string) map[string]any { return map[string]any{"name": name, "v": v} }
	whole := object(map[string]any{"a": "1", "byName": []any{item("x", "1"), item("y", "1")}, "free": map[string]any{"k": "1"}})
	for _, c := range []struct {
		part, want map[string]any
		wrong      string
	}{
		{part: map[string]any{}, want: map[string]any{"a": "1"}},
		{part: map[string]any{"b": "2"}, want: map[string]any{"a": "1", "b": "2"}},
		{part: map[string]any{"byName": []any{item("y", "2"), item("z", "2")}}, want: map[string]any{"byName": []any{item("x", "1"), item("y", "2"), item("z", "2")}}},
		{part: map[string]any{"free": map[string]any{"l": "2"}}, want: map[string]any{"free": map[string]any{"k": "1", "l": "2"}}},
		{part: map[string]any{"c": "2"}, wrong: "failed to convert patch object to typed object: .c: field not declared in schema"},
		{part: map[string]any{"whole": []any{}, "struct": map[string]any{"x": "2"}}, wrong: "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .struct, .whole"},
	} {
		got, err := k.Overlay("v1", whole, object(c.part))
		if c.wrong != "" {
			if err == nil || err.Error() != c.wrong {
				t.Errorf("%v: %v", c.part, err)
			}
			continue
		}
		for name, want := range c.want {
			if err != nil || !reflect.DeepEqual(got[name], want) {
				t.Errorf("%v: %v, %v", c.part, got, err)
			}
		}
	}
	if _, err := k.Overlay("v1", object(map[string]any{"a": int64(1)}), object(nil)); err == nil || !strings.HasPrefix(err.Error(), "failed to convert original object to typed object: .a: ") {
		t.Errorf("got %v", err)
	}
	if _, err := k.Overlay("v2", whole, object(nil)); !errors.Is(err, ErrNoVersion) {
		t.Errorf("got %v", err)
	}
	twice := object(map[string]any{"byName": []any{item("x", "1"), item("x", "2")}})
	if _, err := k.Overlay("v1", twice, object(nil)); err != nil {
		t.Errorf("duplicates that are there: %v", err)
	}
}
