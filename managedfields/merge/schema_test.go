package merge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// What is wrong with a schema is told, and where, however deep it is.
func TestSchemasThatAreNotStructural(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"string"}`: `objects are of type "string"`,
		`{"type":"odd"}`:    `unknown type "odd"`,
		`{"type":"object","x-kubernetes-map-type":"odd"}`:                                          `unknown map type "odd"`,
		`{"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"odd"}}}`:     `a: unknown list type "odd"`,
		`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}}}`:        "a: items have no one schema",
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"odd"}}}}`:             `a: items: unknown type "odd"`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"odd"}}}}}`: `a: b: unknown type "odd"`,
		`{"type":"object","additionalProperties":{"type":"odd"}}`:                                  `unknown type "odd"`,
		`{"type":"object","properties":{"a":{"x-kubernetes-list-type":"odd"}}}`:                    `a: unknown list type "odd"`,
		`{"type":"object","properties":{"a":{"x-kubernetes-map-type":"odd"}}}`:                     `a: unknown map type "odd"`,
	} {
		if _, err := objectOf(t, text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	s := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": {Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte("{")}}}}
	if _, err := Object(s, true, false); err == nil || !strings.HasPrefix(err.Error(), "a: default: ") {
		t.Errorf("a default that is no JSON: %v", err)
	}
}

// Without a schema any field may be there, of any type; with preserve in metadata, too.
func TestFieldsThatNoSchemaHas(t *testing.T) {
	none, err := Object(nil, false, false)
	if err != nil {
		t.Fatal(err)
	}
	odd := map[string]any{"apiVersion": int64(1), "a": map[string]any{"b": []any{"c"}}, "metadata": map[string]any{"odd": true}}
	if err := none.Validate(odd, false); err != nil {
		t.Errorf("without a schema: %v", err)
	}
	for _, preserve := range []bool{false, true} {
		typ, err := Object(&apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": {Type: "string"}}}, false, preserve)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []map[string]any{{"metadata": map[string]any{"odd": true}}, {"odd": true}} {
			if err := typ.Validate(v, false); (err == nil) != preserve {
				t.Errorf("%v, preserved %t: %v", v, preserve, err)
			}
		}
	}
}

// What is merged as one value is found wherever it is, and a bounded number of bytes of it.
func TestWhatIsMergedAsOneValue(t *testing.T) {
	typ, err := objectOf(t, `{"type":"object","properties":{
		"one":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"in":{"type":"array","items":{"type":"string"}}}},
		"many":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"},"l":{"type":"array","items":{"type":"string"}}}}},
		"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(`{"other":{"a":[1]},"set":["a"],"many":[{"k":"a","l":["x"]},{"k":"b"},{"k":"c","l":[]}],"one":{"in":[]}}`), &v); err != nil {
		t.Fatal(err)
	}
	if got, want := typ.Atomics(v), []string{".many[0].l", ".many[2].l", ".one", ".one.in"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	a := atomics{left: 5}
	a.add("abc")
	a.add("de")
	a.add("f")
	if !slices.Equal(a.found, []string{"abc", "de"}) {
		t.Errorf("of five bytes there are %q", a.found)
	}
}

// Of mistakes whose paths are too long those are told that come first, at least one.
func TestMistakesOfLongPaths(t *testing.T) {
	for left, want := range map[int]string{0: ".a", 1: ".a", 2: ".a .a.b", 6: ".a .a.b .a.c", 100: ".a .a.b .a.c"} {
		c := checker{left: left}
		got := ""
		for _, v := range c.below(".a", Violations{{}, {Path: ".b"}, {Path: ".c"}}) {
			got += " " + v.Path
		}
		if got != " "+want {
			t.Errorf("%d bytes are left:%s, want %s", left, got, want)
		}
	}
}

// What is left out of a difference is left out of each part of it, with all below.
func TestFieldsThatAreLeftOutOfADifference(t *testing.T) {
	set := func(paths ...[]any) *fieldpath.Set {
		s := &fieldpath.Set{}
		for _, p := range paths {
			s.Insert(fieldpath.MakePathOrDie(p...))
		}
		return s
	}
	a, below, b := []any{"a"}, []any{"a", "x"}, []any{"b"}
	d := &Diff{Removed: set(below, b), Modified: set(a, b), Added: set(a, b)}
	d.Exclude(nil)
	if d.Removed.Size() != 2 || d.Modified.Size() != 2 || d.Added.Size() != 2 {
		t.Errorf("nothing is left out: %+v", d)
	}
	d.Exclude(set(a))
	for name, s := range map[string]*fieldpath.Set{"removed": d.Removed, "modified": d.Modified, "added": d.Added} {
		if !s.Equals(set(b)) {
			t.Errorf("%s: %v", name, s)
		}
	}
}
