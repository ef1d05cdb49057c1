package rules_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// A path is read as the steps to each list or map, and those within its items.
func TestPlacesOfAPath(t *testing.T) {
	for path, want := range map[string][][]string{
		"a": {{"a"}}, "a.b": {{"a", "b"}}, "a[*].b": {{"a"}, {"b"}}, "a.b[*].c.d[*].e": {{"a", "b"}, {"c", "d"}, {"e"}}, "a[*][*].b": {{"a"}, {}, {"b"}}, `a["x.y"].b`: {{"a", "x.y", "b"}},
	} {
		if got, err := rules.Places(path); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{
		"": "it is empty", "a..b": "a dot has no name after it", "kind": "the server sets it", strings.Repeat("a", 5000): "bytes",
	} {
		if got, err := rules.Places(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %q, %v", path, got, err)
		}
	}
}

// What an operation cannot do is told, with where: in items of items, too.
func TestWhatOperationsCannotDo(t *testing.T) {
	for _, c := range []struct{ list, object, want, becomes string }{
		{`{type: {field: a, from: string, to: number}}`, `"a":"1.5"`, "", `"a":1.5`},
		{`{type: {field: a, from: string, to: number}}`, `"a":"x"`, "rules[0].type", ""},
		{`{type: {field: a, from: string, to: number}}`, `"a":"1e"`, "rules[0].type", ""},
		{`{type: {field: a, from: string, to: number}}`, `"a":"01"`, "rules[0].type", ""},
		{`{type: {field: a, from: string, to: number}}`, `"a":null`, "", `"a":null`},
		{`{type: {field: a, from: string, to: number}}`, `"b":1`, "", `"b":1`},
		{`{type: {field: "l[*].m[*].a", from: string, to: integer}}`, `"l":[{"m":[{"a":"1"}]},{"m":[{"a":"2"},{"a":"3"}]}]`, "", `"l":[{"m":[{"a":1}]},{"m":[{"a":2},{"a":3}]}]`},
		{`{type: {field: "l[*].m[*].a", from: string, to: integer}}`, `"l":[{"m":[{"a":"x"}]},{"m":[]}]`, "rules[0].type", ""},
		{`{type: {field: "l[*].m[*].a", from: string, to: integer}}`, `"l":[{"m":7},{}]`, "", `"l":[{"m":7},{}]`},
		{`{cel: {from: a, to: b, expression: "1 / self", back: "self"}}`, `"a":0`, "division by zero", ""},
		{`{cel: {from: a, to: b, expression: "1 / self", back: "self"}}`, `"a":1`, "", `"b":1`},
		{`{cel: {from: a, to: b, expression: "1 / self", back: "self"}}`, `"c":1`, "", `"c":1`},
		{`{split: {field: a, separator: ":", into: [b, c, d], last: true}}`, `"a":"x"`, "", `"b":"x"`},
		{`{split: {field: a, separator: ":", into: [b, c, d], last: true}}`, `"a":"w:x:y:z"`, "", `"b":"w:x","c":"y","d":"z"`},
		{`{split: {field: a, separator: ":", into: [b, c], last: false}}`, `"a":"x:y:z"`, "", `"b":"x","c":"y:z"`},
	} {
		got, err := convert(compile(t, c.list), "v2", whole("v1", "},"+c.object))
		if c.want != "" {
			if err == nil || !strings.HasPrefix(err.Error(), "Widget a: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %s: %s, %v", c.list, c.object, got, err)
			}
			continue
		}
		if err != nil || got != whole("v2", "},"+c.becomes) {
			t.Errorf("%s of %s: %s, %v", c.list, c.object, got, err)
		}
	}
}

// Rules convert within a group, say which object it is that they do not convert, and stop
// with who asks.
func TestWhichObjectsRulesConvert(t *testing.T) {
	r := compile(t, `{rename: {field: a, to: b}}`)
	const one = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"n","namespace":"ns"},"a":1}`
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx     context.Context
		desired string
		object  string
		want    string
	}{
		{t.Context(), "example.com/v2", one, ""}, {t.Context(), "example.com/v1", one, ""},
		{t.Context(), "other.com/v2", one, "Widget ns/n: rules do not convert between groups"},
		{t.Context(), "example.com/v3", one, "Widget ns/n: no rules lead from v1 to v3"},
		{t.Context(), "v2", `{"apiVersion":"v1","kind":"Widget","metadata":{"name":"n"},"a":1}`, ""},
		{t.Context(), "example.com/v2", `{`, "JSON"}, {ended, "example.com/v2", one, context.Canceled.Error()},
	} {
		got, err := r.Convert(c.ctx, c.desired, [][]byte{[]byte(c.object)})
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || c.want == "" && err != nil {
			t.Errorf("%s to %s: %q, %v", c.object, c.desired, got, err)
		}
		if c.desired == "example.com/v1" && err == nil && string(got[0]) != one {
			t.Errorf("what is at the version becomes %s", got[0])
		}
	}
	if _, err := r.Convert(ended, "example.com/v2", [][]byte{[]byte(one)}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := r.Acknowledged(); len(got) != 0 {
		t.Errorf("%q are acknowledged", got)
	}
}

// Conversions are between two versions, each pair once, and not too many.
func TestWhatIsWrongWithConversions(t *testing.T) {
	for _, c := range []struct {
		pairs [][2]string
		want  string
	}{
		{nil, "spec.conversions: Required value: say between which versions to convert"},
		{[][2]string{{"v1", "v2"}, {"v2", "v1"}}, ""},
		{[][2]string{{"v1", "v1"}}, `spec.conversions[0].to: Invalid value: "v1": it is the version that is converted from`},
		{[][2]string{{"v1", "v2"}, {"v1", "v2"}}, `spec.conversions[1]: Duplicate value: "v1 to v2"`},
		{[][2]string{{"v1", "V2"}}, `spec.conversions[0].to: Invalid value: "V2": it does not name a version: `},
		{[][2]string{{"", "v2"}}, `spec.conversions[0].from: `},
		{many(32), ""}, {many(33), "spec.conversions: Too many: 33: must have at most 32 items"},
	} {
		var s rules.Spec
		for _, p := range c.pairs {
			s.Conversions = append(s.Conversions, rules.Conversion{From: p[0], To: p[1]})
		}
		_, errs := rules.Compile(s)
		if err := errs.ToAggregate(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %s", c.pairs, err, c.want)
		}
	}
}

// many are so many pairs of versions.
func many(n int) (all [][2]string) {
	for i := range n {
		all = append(all, [2]string{fmt.Sprint("v", i+1), fmt.Sprint("v", i+2)})
	}
	return all
}
