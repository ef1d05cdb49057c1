package accept

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Lists that have an element twice are found wherever they are; what cannot be compared
// by its JSON is left to the library.
func TestListsAreFoundInsideObjects(t *testing.T) {
	set, byKey := "set", "map"
	text := schema.Structural{Generic: schema.Generic{Type: "string"}}
	tags := schema.Structural{Generic: schema.Generic{Type: "array"}, Items: &text, Extensions: schema.Extensions{XListType: &set}}
	parts := schema.Structural{
		Generic: schema.Generic{Type: "array"}, Items: &schema.Structural{Generic: schema.Generic{Type: "object"}},
		Extensions: schema.Extensions{XListType: &byKey, XListMapKeys: []string{"name", "port"}},
	}
	all := compileLists(&schema.Structural{Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{
		"spec": {Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{"tags": tags, "parts": parts, "plain": text}},
	}})
	part := func(name string, port any) any { return map[string]any{"name": name, "port": port} }
	for name, c := range map[string]struct {
		spec map[string]any
		want bool
	}{
		"none":             {map[string]any{}, true},
		"different":        {map[string]any{"tags": []any{"a", "b"}, "parts": []any{part("a", int64(1)), part("a", int64(2))}}, true},
		"twice":            {map[string]any{"tags": []any{"a", "b", "a"}}, false},
		"keys twice":       {map[string]any{"parts": []any{part("a", int64(1)), part("b", int64(1)), part("a", int64(1))}}, false},
		"a number":         {map[string]any{"tags": []any{1.5, 2.5}}, false},
		"a number as key":  {map[string]any{"parts": []any{part("a", 1.5)}}, false},
		"an object in set": {map[string]any{"tags": []any{map[string]any{}}}, false},
	} {
		if got := all.accepts(map[string]any{"spec": c.spec}); got != c.want {
			t.Errorf("%s: accepted %t", name, got)
		}
	}
	if none := compileLists(&text); none != nil || compileLists(nil) != nil || !none.accepts([]any{"a", "a"}) {
		t.Error("there are lists where there are none")
	}
}
