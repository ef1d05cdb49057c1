package rules_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// listed is a text of n pieces, each made of its number.
func listed(n int, piece string) string {
	var all []string
	for i := range n {
		all = append(all, strings.ReplaceAll(piece, "#", fmt.Sprint(i)))
	}
	return strings.Join(all, ", ")
}

// Rules have bounds: what is just within compiles, and what is just beyond is refused.
func TestBoundsOfRules(t *testing.T) {
	const path = "x" // of one byte
	for _, c := range []struct {
		name, before, piece, after string
		bound                      int
		want                       string
	}{
		{"rules", "", "{remove: {field: a#}}", "", 128, "spec.conversions[0].rules: Too many: 129: must have at most 128 items"},
		{"values", "{map: {field: a, values: {", "x#: y#", "}}}", 256, `spec.conversions[0].rules[0].map.values: Invalid value: "257": there are more than 256`},
		{"values of the way back", "{map: {field: a, values: {a: b}, back: {b: a, ", "x#: y#", "}}}", 255, `spec.conversions[0].rules[0].map.values: Invalid value: "1": there are more than 256`},
		{"parts", `{split: {field: a, separator: "-", into: [`, "b#", "]}}", 16, `spec.conversions[0].rules[0].split.into: Invalid value: "17": want 2 to 16 fields`},
		{"members", `{union: {discriminator: t, members: {`, "A#: a#", "}}}", 64, `spec.conversions[0].rules[0].union.members: Invalid value: "65": want 1 to 64 members`},
	} {
		if got := said(t, c.before+listed(c.bound, c.piece)+c.after); got != "" {
			t.Errorf("%d %s: %s", c.bound, c.name, got)
		}
		if got := said(t, c.before+listed(c.bound+1, c.piece)+c.after); got != c.want {
			t.Errorf("%d %s: %s, want %s", c.bound+1, c.name, got, c.want)
		}
	}
	if got := said(t, `{remove: {field: `+strings.Repeat(path, 512)+`}}`); got != "" {
		t.Error(got)
	}
	if got := said(t, `{remove: {field: `+strings.Repeat(path, 513)+`}}`); !strings.HasSuffix(got, ": it has more than 512 bytes") {
		t.Error(got)
	}
	for text, want := range map[string]string{
		strings.Repeat(" ", 4095) + "1": "", strings.Repeat(" ", 4096) + "1": "spec.conversions[0].rules[0].cel.expression: Too long: may not be more than 4096 bytes",
	} {
		if got := said(t, `{cel: {to: a, expression: "`+text+`"}}`); got != want {
			t.Errorf("an expression of %d bytes: %s", len(text), got)
		}
	}
}

// What a rule makes has bounds, too, at which it says so.
func TestBoundsOfWhatIsMade(t *testing.T) {
	most := strings.Repeat("x", 1<<20-2) // with its quotes a MiB
	nines := strings.Repeat("9", 62)
	for _, c := range []struct{ list, object, want string }{
		{`{cel: {from: a, to: a, expression: self, back: self}}`, `"a":"` + most + `"`, `},"a":"` + most + `"`},
		{`{cel: {from: a, to: a, expression: self, back: self}}`, `"a":"` + most + `x"`, "Widget n: spec.conversions[0].rules[0].cel: a becomes larger than 1048576 bytes"},
		{`{regexp: {field: a, match: "y", replace: "", back: {match: "y", replace: ""}}}`, `"a":"y` + most + `xx"`, `},"a":"` + most + `xx"`},
		{`{regexp: {field: a, match: "y", replace: "", back: {match: "y", replace: ""}}}`, `"a":"y` + most + `xxx"`, "Widget n: spec.conversions[0].rules[0].regexp: a becomes larger than 1048576 bytes"},
		{`{cel: {to: b, expression: 'double("NaN")'}}`, `"a":1`, "Widget n: spec.conversions[0].rules[0].cel: object: cannot encode NaN: json: unsupported value: NaN"},
		{`{cel: {to: b, expression: "self.a.replace('x', self.a)"}}`, `"a":"` + strings.Repeat("x", 3000) + `"`, "Widget n: spec.conversions[0].rules[0].cel: expression \"self.a.replace('x', self.a)\": bytes of a text: 9000000, and may be 4194304"},
		{`{cel: {to: b, expression: 'b"x"'}}`, `"a":1`, "Widget n: spec.conversions[0].rules[0].cel: a bytes is no part of an object"},
		{`{cel: {to: b, expression: "1"}}`, `"a":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999), "Widget n: spec.conversions[0].rules[0].cel: invalid character '[' exceeded max depth"},
		{`{type: {field: a, from: string, to: number}}`, `"a":"1e-399"`, `},"a":1e-399`},
		{`{type: {field: a, from: string, to: number}}`, `"a":"1e-400"`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a number"},
		{`{type: {field: a, from: string, to: number}}`, `"a":"0E399"`, `},"a":0E399`},
		{`{type: {field: a, from: string, to: number}}`, `"a":"0E+400"`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a number"},
		{`{type: {field: a, from: string, to: number}}`, `"a":"0e99999999999999999999"`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a number"},
		{`{type: {field: a, from: string, to: number}}`, `"a":"1."`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a number"},
		{`{type: {field: a, from: string, to: number}}`, `"a":".5"`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a number"},
		{`{type: {field: a, from: string, to: number}}`, `"a":"+1"`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a number"},
		{`{type: {field: a, from: string, to: number}}`, `"a":"1_0"`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a number"},
		{`{type: {field: a, from: string, to: number}}`, `"a":"0x10"`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a number"},
		{`{type: {field: a, from: string, to: number}}`, `"a":"1 "`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a number"},
		{`{type: {field: a, from: string, to: integer}}`, `"a":"007"`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a integer"},
		{`{type: {field: a, from: number, to: integer}}`, `"a":"7"`, "Widget n: spec.conversions[0].rules[0].type: a is no number that is a integer"},
		{`{type: {field: a, from: number, to: integer}}`, `"a":9223372036854775807`, `},"a":9223372036854775807`},
		{`{type: {field: a, from: number, to: integer}}`, `"a":9223372036854775808`, "Widget n: spec.conversions[0].rules[0].type: a is no number that is a integer"},
		{`{scale: {field: a, by: "0.01"}}`, `"a":0.` + nines, `},"a":0.00` + nines},
		{`{scale: {field: a, by: "0.001"}}`, `"a":0.` + nines, "Widget n: spec.conversions[0].rules[0].scale: a has no end when it is scaled: say how to round"},
		{`{scale: {field: a, by: 1/2, round: Nearest}}`, `"a":3`, `},"a":2`},
		{`{scale: {field: a, by: 1/2, round: Nearest}}`, `"a":-3`, `},"a":-1`},
		{`{scale: {field: a, by: 1/4, round: Nearest}}`, `"a":5`, `},"a":1`},
		{`{scale: {field: a, by: 1/2, round: Up}}`, `"a":-3`, `},"a":-1`},
		{`{scale: {field: a, by: 1/2, round: Down}}`, `"a":-3`, `},"a":-2`},
		{`{scale: {field: a, by: 1/2, round: Up}}`, `"a":4`, `},"a":2`},
		{`{scale: {field: "l[*]", by: "2"}}`, `"l":[1,{"x":1}]`, "Widget n: spec.conversions[0].rules[0].scale:  is not a number of at most 64 digits"},
		{`{unit: {field: a, kind: Duration, unit: s}}`, `"a":1e3`, `},"a":"1000s"`},
		{`{unit: {field: a, kind: Quantity, unit: Mi}}`, `"a":-1.5E-1`, `},"a":"-0.15Mi"`},
		{`{unit: {field: a, kind: Quantity, unit: Mi}}`, `"a":1e-65`, "Widget n: spec.conversions[0].rules[0].unit: a is not a number of at most 64 digits"},
	} {
		if got := outcome(t, c.list, "v2", c.object); got != c.want {
			t.Errorf("%s of %.200s:\n%.300s\nwant\n%.300s", c.list, c.object, got, c.want)
		}
	}
}

// Texts with units are those that Kubernetes writes, too.
func TestTextsWithUnits(t *testing.T) {
	none := func(kind, unit string) string {
		return fmt.Sprintf(`Widget n: spec.conversions[0].rules[0].unit: a is no %s in %q that can be written as a number`, kind, unit)
	}
	digits := strings.Repeat("1", 63)
	for _, c := range []struct{ kind, unit, text, want string }{
		{"Duration", "ms", "1h2m3.5s", "3723500"}, {"Duration", "us", "-5µs", "-5"}, {"Duration", "us", "5μs", "5"}, {"Duration", "ns", "5us", "5000"}, {"Duration", "s", ".5s", "0.5"},
		{"Duration", "s", digits + "s", digits}, {"Duration", "s", digits + "1s", ""}, {"Duration", "s", "s", ""}, {"Duration", "s", "1s1", ""}, {"Duration", "s", "-", ""}, {"Duration", "s", "--1s", ""},
		{"Quantity", `""`, "5", "5"}, {"Quantity", `""`, "1.5k", "1500"}, {"Quantity", "m", "2", "2000"}, {"Quantity", "Ki", "1Mi", "1024"}, {"Quantity", `""`, "1k1", ""}, {"Quantity", `""`, "k", ""}, {"Quantity", `""`, "1 k", ""},
	} {
		want := `},"a":` + c.want
		if c.want == "" {
			want = none(c.kind, strings.Trim(c.unit, `"`))
		}
		if got := outcome(t, `{unit: {field: a, kind: `+c.kind+`, unit: `+c.unit+`}}`, "v1", `"a":"`+c.text+`"`); got != want {
			t.Errorf("%s in %s: %s, want %s", c.text, c.unit, got, want)
		}
	}
}

// counted is over after it was asked so many times whether it is.
type counted struct {
	context.Context
	left *int
}

func (c counted) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Who no longer waits ends a conversion between items, and between objects.
func TestConversionsEndWithinAnObject(t *testing.T) {
	r := compile(t, `{rename: {field: "l[*].a", to: b}}`)
	object := []byte(whole("v1", `},"l":[{"a":1},{"a":2},{"a":3}]`))
	for left, done := range map[int]bool{0: false, 1: false, 3: false, 4: true} {
		if _, err := r.Convert(counted{t.Context(), &left}, "example.com/v2", [][]byte{object}); (err == nil) != done || !done && !errors.Is(err, context.Canceled) {
			t.Errorf("after %d: %v", left, err)
		}
	}
}

// Of two ways of the same length the one that is written first counts, and a shorter one
// before both.
func TestShortestWayWrittenFirstCounts(t *testing.T) {
	step := func(from, to, field, name string) rules.Conversion {
		return rules.Conversion{From: from, To: to, Rules: []rules.Rule{{Rename: &rules.Rename{Field: field, To: name}}}}
	}
	for want, conversions := range map[string][]rules.Conversion{
		"b": {step("v1", "v2", "a", "x"), step("v1", "v3", "a", "y"), step("v2", "v4", "x", "b"), step("v3", "v4", "y", "c")},
		"c": {step("v1", "v3", "a", "y"), step("v1", "v2", "a", "x"), step("v2", "v4", "x", "b"), step("v3", "v4", "y", "c")},
		"d": {step("v1", "v2", "a", "x"), step("v2", "v4", "x", "b"), step("v1", "v4", "a", "d")},
	} {
		r, errs := rules.Compile(rules.Spec{Conversions: conversions, AcknowledgedLoss: []string{"p"}})
		if len(errs) > 0 || len(r.Acknowledged()) != 1 {
			t.Fatal(errs)
		}
		if got, err := convert(r, "v4", whole("v1", `},"a":1`)); err != nil || !same(got, whole("v4", `},"`+want+`":1`)) {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}
