package proof

import (
	"errors"
	"testing"

	"github.com/wasmgate/wasmgate/conversion/function"
	"github.com/wasmgate/wasmgate/crd/object"
)

// What an object is made smaller for is what it goes on showing, whatever else is wrong
// with it.
func TestASmallerObjectShowsTheSame(t *testing.T) {
	const properties = `{type: object, properties: {a: {type: string}, b: {type: string}, bad: {type: string}, other: {type: string}, list: {type: array, items: {type: string}}}}`
	d, err := compiled(properties, "v2")
	if err != nil {
		t.Fatal(err)
	}
	c := function.Converter(func(o map[string]any, desired string) error {
		if _, ok := o["bad"]; ok {
			return errors.New("it is not understood")
		}
		if desired == "example.com/v2" {
			delete(o, "a")
			delete(o, "b")
			if list, _ := o["list"].([]any); len(list) > 0 {
				list[0] = ""
			}
		}
		return nil
	})
	for _, test := range []struct{ fields, problem, field, left string }{
		{`"a":"a long text","b":"y","other":"z"`, "Lost", "a", `"a":"a"`},
		{`"b":"y","other":"z"`, "Lost", "b", `"b":"y"`},
		{`"a":"x","b":"y","bad":"some text","other":"z"`, "ConversionFails", "", `"bad":"a"`},
		{`"list":["a long text","another","one more"],"other":"z"`, "Lost", "list[*]", `"list":["a"]`},
	} {
		s, err := newSearch(d, c, Pair{"v1", "v2"}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		obj := parsedObject(t, s.from, test.fields)
		found, err := s.journey.run(t.Context(), obj, 1)
		if err != nil || found == nil || string(found.problem) != test.problem || found.field != test.field {
			t.Fatalf("%s: %+v, %v", test.fields, found, err)
		}
		small := s.shrink(t.Context(), obj, found)
		data, err := object.Encode(small.object)
		if err != nil {
			t.Fatal(err)
		}
		if small.finding.problem != found.problem || small.finding.field != found.field {
			t.Errorf("%s: %+v becomes %+v", test.fields, found, small.finding)
		}
		want := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generation":1,"name":"n","namespace":"default"},` + test.left + `}`
		if tree, _, err := object.Parse([]byte(want)); err != nil || !object.Equal(tree, small.object) {
			t.Errorf("%s: %s is left, want %s (%v)", test.fields, data, want, err)
		}
	}
}

// parsedObject is a valid object with some fields.
func parsedObject(t *testing.T, at end, fields string) map[string]any {
	t.Helper()
	tree, _, err := object.Parse([]byte(`{"apiVersion":"` + at.apiVersion + `","kind":"Widget","metadata":{"name":"n","namespace":"default"},` + fields + `}`))
	if err != nil {
		t.Fatal(err)
	}
	made, errs := at.accepted(tree)
	if made == nil {
		t.Fatal(errs)
	}
	return made
}

// A place that is no longer there cannot be edited.
func TestPlacesThatAreGone(t *testing.T) {
	obj := map[string]any{"a": []any{"x"}, "b": "y"}
	for _, place := range [][]any{{"none"}, {"none", "x"}, {"a", 1}, {"a", "x"}, {"b", "x"}, {"b", 0}} {
		if out, ok := edited(obj, place, "z", false); ok || out != nil {
			t.Errorf("%v: %v", place, out)
		}
	}
	if out, ok := edited(obj, []any{"a", 0}, "z", false); !ok || !object.Equal(out, map[string]any{"a": []any{"z"}, "b": "y"}) {
		t.Errorf("%v %v", out, ok)
	}
}
