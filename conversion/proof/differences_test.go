package proof

import (
	"fmt"
	"slices"
	"testing"
)

// Every field that differs is told, by its path and both values, whatever comes before it;
// of metadata only what converters may change.
func TestFieldsThatDiffer(t *testing.T) {
	d := definedBy(t, `{type: object, properties: {spec: {type: object, properties: {
		map: {type: object, additionalProperties: {type: string}}, list: {type: array, items: {type: object, properties: {n: {type: integer}}}}, text: {type: string}, z: {type: integer}}}}}`)
	obj := func(metadata, spec string) []byte {
		return fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":%s,"spec":%s}`, metadata, spec)
	}
	a := obj(`{"name":"a","uid":"1","labels":{"l":"1"}}`, `{"map":{"k":"v","same":"s"},"list":[{"n":1},{"n":2},{"n":3}],"text":"x","z":1}`)
	b := obj(`{"name":"b","uid":"2","labels":{"l":"2"}}`, `{"map":{"same":"s"},"list":[{"n":1},{"n":7}],"z":"1"}`)
	got, err := Differences(d.Versions[0], a, b)
	want := []Difference{
		{"metadata.labels", `"1"`, `"2"`}, {"spec.list[*].n", "2", "7"}, {"spec.list[*]", `{"n":3}`, ""},
		{"spec.map[*]", `"v"`, ""}, {"spec.text", `"x"`, ""}, {"spec.z", "1", `"1"`},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
	if got, err = Differences(d.Versions[0], a, a); err != nil || len(got) > 0 {
		t.Errorf("of one: %q, %v", got, err)
	}
	more := []Difference{{"metadata.labels", `"2"`, `"1"`}, {"spec.list[*].n", "7", "2"}, {"spec.list[*]", "", `{"n":3}`}, {"spec.map[*]", "", `"v"`}, {"spec.text", "", `"x"`}, {"spec.z", `"1"`, "1"}}
	if got, err = Differences(d.Versions[0], b, a); err != nil || !slices.Equal(got, more) {
		t.Errorf("the other way: %q, %v\nwant %q", got, err, more)
	}
	for _, pair := range [][2][]byte{{a, []byte("{")}, {[]byte("{"), a}} {
		if got, err := Differences(d.Versions[0], pair[0], pair[1]); err == nil {
			t.Errorf("of what is no object: %q", got)
		}
	}
}

// Who wants no more is told no more, wherever that is.
func TestChangesAreToldUntilThereAreEnough(t *testing.T) {
	a := map[string]any{"a": []any{int64(1), int64(2), int64(3)}, "b": map[string]any{"c": "x", "d": "y"}, "e": []any{"same"}, "f": "x"}
	b := map[string]any{"a": []any{int64(1), int64(7)}, "b": map[string]any{"c": "z", "g": "y"}, "e": []any{"same"}, "f": []any{}}
	want := []Change{
		{[]any{"a", 1}, true, true}, {[]any{"a", 2}, true, false}, {[]any{"b", "c"}, true, true},
		{[]any{"b", "d"}, true, false}, {[]any{"b", "g"}, false, true}, {[]any{"f"}, true, true},
	}
	back := []Change{
		{[]any{"a", 1}, true, true}, {[]any{"a", 2}, false, true}, {[]any{"b", "c"}, true, true},
		{[]any{"b", "d"}, false, true}, {[]any{"b", "g"}, true, false}, {[]any{"f"}, true, true},
	}
	for most := 1; most <= len(want); most++ {
		for _, way := range []struct {
			from, to map[string]any
			want     []Change
		}{{a, b, want}, {b, a, back}} {
			var got []Change
			Changes(way.from, way.to, func(c Change) bool {
				got = append(got, c)
				return len(got) < most
			})
			if fmt.Sprint(got) != fmt.Sprint(way.want[:most]) {
				t.Errorf("%d are enough: %v, want %v", most, got, way.want[:most])
			}
		}
	}
	var got []Change
	Changes(map[string]any{"a": map[string]any{"x": "y"}}, map[string]any{"a": "text"}, func(c Change) bool { got = append(got, c); return true })
	if len(got) != 1 || len(got[0].Place) != 1 {
		t.Errorf("what becomes a text: %v", got)
	}
}
