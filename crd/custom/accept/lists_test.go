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

// Of many elements, too, those are found that are there twice, and no others.
func TestManyElementsAreTold(t *testing.T) {
	of := func(n int, make func(i int) any) (list []any) {
		for i := range n {
			list = append(list, make(i))
		}
		return list
	}
	part := func(name, port any) any { return map[string]any{"name": name, "port": port} }
	for _, n := range []int{2, manyElements - 1, manyElements, manyElements + 1, 500} {
		text := func(i int) any { return string(rune('a' + i)) }
		number := func(i int) any { return int64(i) }
		parts := func(i int) any { return part(text(i/2), number(i%2)) }
		same := func(i int) any { return part("a", number(i)) }
		if !different(of(n, text)) || !different(append(of(n, number), "1", true, false)) || different(append(of(n, text), "a")) || different(append(of(n, number), 1.5)) {
			t.Errorf("sets of %d", n)
		}
		by := []string{"name", "port"}
		if !differentBy(by, of(n, parts)) || differentBy(by, append(of(n, parts), parts(1))) || differentBy(by, append(of(n, parts), part("a", 1.5))) || differentBy(by, append(of(n, parts), "a")) {
			t.Errorf("maps of %d by two keys", n)
		}
		if !differentBy(by[1:], of(n, same)) || differentBy(by[:1], of(n, same)) || differentBy([]string{"none"}, of(n, same)) {
			t.Errorf("maps of %d by a key", n)
		}
		five := []string{"name", "port", "a", "b", "c"}
		five5 := func(i int) any { return map[string]any{"name": "n", "port": true, "a": "a", "b": "b", "c": number(i)} }
		if differentBy(five, of(n, five5)) != (n < manyElements) {
			t.Errorf("maps of %d by five keys", n)
		}
	}
}
