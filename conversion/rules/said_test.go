package rules_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// long is a text that is too long for a rule, short one that just is not.
var long, short = strings.Repeat("x", 4097), strings.Repeat("x", 4096)

// outcomes are what objects become, or why they do not, to v2 or back.
var outcomes = []struct{ list, to, object, want string }{
	{`{cel: {from: a, to: b, expression: self.none, back: self}}`, "v2", `"a":1`, `Widget n: spec.conversions[0].rules[0].cel: expression "self.none": no such key: none`},
	{`{cel: {from: a, to: b, expression: "optional.none()", back: self}}`, "v2", `"a":1,"b":2`, "}"},
	{`{cel: {from: a, to: b, expression: "self", back: self}}`, "v2", `"a":1e999,"b":2`, "not a JSON object"},
	{`{cel: {from: a, to: b.c, expression: "self", back: self}}`, "v2", `"a":1,"b":2`, "Widget n: spec.conversions[0].rules[0].cel: b is not an object"},
	{`{cel: {from: a, to: a, expression: "self + 1", back: self - 1}}`, "v2", `"a":1`, `},"a":2`},
	{`{move: {from: a, to: b.c}}`, "v2", `"a":1,"b":2`, "Widget n: spec.conversions[0].rules[0].move: b is not an object"},
	{`{move: {from: a, to: b.c}}`, "v2", `"b":2`, `},"b":2`},
	{`{move: {from: a.b, to: a}}`, "v2", `"a":{"b":1,"c":2}`, `},"a":1`},
	{`{copy: {from: a, to: b.c}}`, "v2", `"a":1,"b":2`, "Widget n: spec.conversions[0].rules[0].copy: b is not an object"},
	{`{listToMap: {list: l, map: m.n, key: k}}`, "v2", `"l":[{"k":"a"}],"m":1`, "Widget n: spec.conversions[0].rules[0].listToMap: m is not an object"},
	{`{listToMap: {list: l, map: m, key: k, order: e.com/o}}`, "v2", `"l":[{"k":"b"},{"k":"a"}],"m":1`, `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"annotations":{"e.com/o":"[\"b\",\"a\"]"},"name":"n"},"m":{"a":{},"b":{}}`},
	{`{listToMap: {list: l, map: m, key: k, value: v}}`, "v2", `"l":[{"k":"a"}]`, "Widget n: spec.conversions[0].rules[0].listToMap: an item of l does not have k and v, and nothing else"},
	{`{listToMap: {list: l, map: m, key: k, value: v}}`, "v2", `"l":[{"k":"a","v":1,"w":2}]`, "Widget n: spec.conversions[0].rules[0].listToMap: an item of l does not have k and v, and nothing else"},
	{`{listToMap: {list: l, map: m, key: k}}`, "v2", `"l":[{"k":"a"},{"k":"a"}]`, "Widget n: spec.conversions[0].rules[0].listToMap: two items of l have the same k"},
	{`{listToMap: {list: l, map: m, key: k}}`, "v2", `"l":[{"k":1}]`, "Widget n: spec.conversions[0].rules[0].listToMap: an item of l has no k that is a string"},
	{`{listToMap: {list: l, map: m, key: k}}`, "v2", `"l":[{"x":1}]`, "Widget n: spec.conversions[0].rules[0].listToMap: an item of l has no k that is a string"},
	{`{listToMap: {list: l, map: m, key: k}}`, "v2", `"l":[1]`, "Widget n: spec.conversions[0].rules[0].listToMap: an item of l is not an object"},
	{`{listToMap: {list: l, map: m, key: k}}`, "v2", `"l":{"k":"a"}`, `},"l":{"k":"a"}`},
	{`{listToMap: {list: l, map: m, key: k}}`, "v1", `"m":{"a":1}`, "Widget n: spec.conversions[0].rules[0].listToMap: a value of m is not an object"},
	{`{listToMap: {list: l, map: m, key: k}}`, "v1", `"m":{"a":{"k":1}}`, "Widget n: spec.conversions[0].rules[0].listToMap: a value of m has a k of its own"},
	{`{listToMap: {list: l, map: m, key: k}}`, "v1", `"m":[1]`, `},"m":[1]`},
	{`{listToMap: {list: l.m, map: m, key: k}}`, "v1", `"l":1,"m":{"a":{}}`, "Widget n: spec.conversions[0].rules[0].listToMap: l is not an object"},
	{`{split: {field: a, separator: "-", into: [b, c]}}`, "v2", `"a":1`, "Widget n: spec.conversions[0].rules[0].split: a is not a string"},
	{`{split: {field: a, separator: "-", into: [b.x, c]}}`, "v2", `"a":"1-2","b":1`, "Widget n: spec.conversions[0].rules[0].split: b is not an object"},
	{`{split: {field: a, separator: "-", into: [b, c]}}`, "v1", `"b":1,"c":"x"`, "Widget n: spec.conversions[0].rules[0].split: b is not a string"},
	{`{split: {field: a, separator: "-", into: [b, c]}}`, "v1", `"c":"x"`, "Widget n: spec.conversions[0].rules[0].split: c is there without b"},
	{`{split: {field: a, separator: "-", into: [b, c]}}`, "v1", `"b":"x-y","c":"z"`, "Widget n: spec.conversions[0].rules[0].split: the separator is in one of the parts of a, so that they could not be told from each other again"},
	{`{split: {field: a, separator: "-", into: [b, c], last: true}}`, "v2", `"a":"-2"`, `},"b":"","c":"2"`},
	{`{split: {field: a.d, separator: "-", into: [b, c]}}`, "v1", `"a":1,"b":"x","c":"z"`, "Widget n: spec.conversions[0].rules[0].split: a is not an object"},
	{`{split: {field: a, separator: "-", into: [b, c]}}`, "v1", `"d":"z"`, `},"d":"z"`},
	{`{regexp: {field: a, match: b, replace: c, back: {match: c, replace: b}}}`, "v2", `"a":1`, "Widget n: spec.conversions[0].rules[0].regexp: a is not a string"},
	{`{regexp: {field: a, match: b, replace: c, back: {match: c, replace: b}}}`, "v2", `"a":"abab"`, `},"a":"acac"`},
	{`{union: {discriminator: t, members: {A: a, B: b}}}`, "v2", `"t":1,"a":1`, "Widget n: spec.conversions[0].rules[0].union: t is not a string"},
	{`{union: {discriminator: t, members: {A: a, B: b}}}`, "v2", `"t":"A","b":1`, "Widget n: spec.conversions[0].rules[0].union: t is not the name of the one member that is there; keep: ANNOTATION would keep it"},
	{`{union: {discriminator: t, members: {A: a, B: b}}}`, "v2", `"t":"A"`, "Widget n: spec.conversions[0].rules[0].union: t is not the name of the one member that is there; keep: ANNOTATION would keep it"},
	{`{union: {discriminator: t, value: v, members: {A: a.x, B: b}}}`, "v2", `"t":"A","v":1,"a":2`, "Widget n: spec.conversions[0].rules[0].union: a is not an object"},
	{`{union: {discriminator: t, value: v.x, members: {A: a, B: b}}}`, "v1", `"v":1,"a":2`, "Widget n: spec.conversions[0].rules[0].union: v is not an object"},
	{`{union: {discriminator: t, value: v, members: {A: a, B: b}}}`, "v1", `"a":2`, `},"t":"A","v":2`},
	{`{union: {discriminator: t, members: {A: a, B: b}}}`, "v1", `"a":2,"b":1`, "Widget n: spec.conversions[0].rules[0].union: a and b are there, and the other version holds one"},
	{`{union: {discriminator: t, members: {A: a, B: b}}}`, "v1", `"c":1`, `},"c":1`},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v2", `"a":"x"`, "Widget n: spec.conversions[0].rules[0].unit: a is not a number of at most 64 digits"},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v2", `"a":null`, `},"a":null`},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v2", `"a":` + strings.Repeat("1", 64), `},"a":"1111111111111111111111111111111111111111111111111111111111111111s"`},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v2", `"a":` + strings.Repeat("1", 65), "Widget n: spec.conversions[0].rules[0].unit: a is not a number of at most 64 digits"},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v2", `"a":1e400`, "not a JSON object"},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v1", `"a":1`, "Widget n: spec.conversions[0].rules[0].unit: a is not a string"},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v1", `"a":"-1m30.5s"`, `},"a":-90.5`},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v1", `"a":""`, `Widget n: spec.conversions[0].rules[0].unit: a is no Duration in "s" that can be written as a number`},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v1", `"a":"1"`, `Widget n: spec.conversions[0].rules[0].unit: a is no Duration in "s" that can be written as a number`},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v1", `"a":"1x"`, `Widget n: spec.conversions[0].rules[0].unit: a is no Duration in "s" that can be written as a number`},
	{`{unit: {field: a, kind: Duration, unit: s}}`, "v1", `"a":"1.2.3s"`, `Widget n: spec.conversions[0].rules[0].unit: a is no Duration in "s" that can be written as a number`},
	{`{unit: {field: a, kind: Duration, unit: h}}`, "v1", `"a":"1s"`, `Widget n: spec.conversions[0].rules[0].unit: a is no Duration in "h" that can be written as a number`},
	{`{unit: {field: a, kind: Quantity, unit: Mi}}`, "v1", `"a":"1Mi1Mi"`, `Widget n: spec.conversions[0].rules[0].unit: a is no Quantity in "Mi" that can be written as a number`},
	{`{unit: {field: a, kind: Quantity, unit: Mi}}`, "v1", `"a":"1Gi"`, `},"a":1024`},
	{`{unit: {field: a, kind: Quantity, unit: Mi}}`, "v1", `"a":"` + strings.Repeat("1", 65) + `"`, `Widget n: spec.conversions[0].rules[0].unit: a is no Quantity in "Mi" that can be written as a number`},
	{`{scale: {field: a, by: "10"}}`, "v2", `"a":"x"`, "Widget n: spec.conversions[0].rules[0].scale: a is not a number of at most 64 digits"},
	{`{scale: {field: a, by: "10"}}`, "v2", `"a":null`, `},"a":null`},
	{`{scale: {field: a, by: "10"}}`, "v2", `"b":1`, `},"b":1`},
	{`{scale: {field: a, by: "3"}}`, "v1", `"a":1`, "Widget n: spec.conversions[0].rules[0].scale: a has no end when it is scaled: say how to round"},
	{`{type: {field: a, from: string, to: integer}}`, "v2", `"a":"1.5"`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a integer"},
	{`{type: {field: a, from: string, to: boolean}}`, "v2", `"a":"yes"`, "Widget n: spec.conversions[0].rules[0].type: a is no string that is a boolean"},
	{`{type: {field: a, from: string, to: integer}}`, "v1", `"a":true`, "Widget n: spec.conversions[0].rules[0].type: a is no integer that is a string"},
	{`{map: {field: a, values: {x: w}, others: Fail}}`, "v2", `"a":"z"`, "Widget n: spec.conversions[0].rules[0].map: a has a value that the rule does not name, so that it would not come back"},
	{`{map: {field: a, values: {x: w}}}`, "v2", `"a":1`, "Widget n: spec.conversions[0].rules[0].map: a is not a string"},
	{`{map: {field: a, values: {x: w}}}`, "v1", `"a":"x"`, "Widget n: spec.conversions[0].rules[0].map: a has a value that the rule does not name, so that it would not come back"},
	{`{toList: {field: a}}`, "v1", `"a":[1,2]`, "Widget n: spec.conversions[0].rules[0].toList: a has 2 items, and the other version holds one"},
	{`{toList: {field: a}}`, "v1", `"a":1`, `},"a":1`},
	{`{toList: {field: a}}`, "v1", `"a":[]`, "Widget n: spec.conversions[0].rules[0].toList: a has 0 items, and the other version holds one"},
	{`{keep: {field: a}}`, "v2", `"a":1`, `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"annotations":{"conversion.wasmgate.dev/a":"1"},"name":"n"}`},
	{`{keep: {field: a.b, annotation: e.com/a}}`, "v1", `"a":1`, `},"a":1`},
}

func TestWhatObjectsBecome(t *testing.T) {
	for _, c := range outcomes {
		if got := outcome(t, c.list, c.to, c.object); got != c.want {
			t.Errorf("%s of %.200s:\n%.300s\nwant\n%.300s", c.list, c.object, got, c.want)
		}
	}
}

// outcome is what an object becomes, but for its head, or why it does not.
func outcome(t *testing.T, list, to, object string) string {
	t.Helper()
	from := map[string]string{"v1": "v2", "v2": "v1"}[to]
	out, err := convert(compile(t, list), to, `{"apiVersion":"example.com/`+from+`","kind":"Widget","metadata":{"name":"n"},`+object+`}`)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(strings.TrimPrefix(out, `{"apiVersion":"example.com/`+to+`","kind":"Widget","metadata":{"name":"n"`), "}")
}

// alike compares outcomes, but for the order of fields.
func alike(to, got, want string) bool {
	full := func(rest string) string {
		if strings.HasPrefix(rest, "{") {
			return rest + "}"
		}
		return `{"apiVersion":"example.com/` + to + `","kind":"Widget","metadata":{"name":"n"` + rest + "}"
	}
	return got == want || same(full(got), full(want))
}

// mistakes are what is wrong with rules.
var mistakes = []struct{ list, want string }{
	{`{default: {field: a, value: "` + short[2:] + `"}}`, ""},
	{`{rename: {field: a, to: ""}}`, "spec.conversions[0].rules[0].rename.to: Required value"},
	{`{rename: {field: a, to: a}}`, `spec.conversions[0].rules[0].rename.to: Invalid value: "a": it is the name that the field has`},
	{`{rename: {field: a, to: "` + short + `"}}`, ""},
	{`{rename: {field: a, to: "` + long + `"}}`, "spec.conversions[0].rules[0].rename.to: Too long: may not be more than 4096 bytes"},
	{`{rename: {field: "", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "": it is empty`},
	{`{rename: {field: "a..b", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "a..b": a dot has no name after it`},
	{`{rename: {field: "a.[*]", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "a.[*]": a dot has no name after it`},
	{`{rename: {field: "a[*]b", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "a[*]b": a dot is missing after a bracket`},
	{`{rename: {field: 'a["b', to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "a[\"b": a key in brackets has no end: want ["KEY"]`},
	{`{rename: {field: "a.", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "a.": a dot has no name after it`},
	{`{rename: {field: "a[*]", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "a[*]": it is an item itself: name a field of the item after [*]`},
	{`{rename: {field: "[*].a", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "[*].a": it names every field of the object`},
	{`{rename: {field: "kind", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "kind": the server sets it`},
	{`{rename: {field: "metadata.name", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "metadata.name": of metadata, conversions change labels and annotations only: want metadata.labels["KEY"] or metadata.annotations["KEY"]`},
	{`{rename: {field: "metadata.labels", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "metadata.labels": of metadata, conversions change labels and annotations only: want metadata.labels["KEY"] or metadata.annotations["KEY"]`},
	{`{rename: {field: "metadata.labels[*]", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "metadata.labels[*]": of metadata, conversions change labels and annotations only: want metadata.labels["KEY"] or metadata.annotations["KEY"]`},
	{`{rename: {field: "a` + strings.Repeat(".b", 31) + `", to: b}}`, `spec.conversions[0].rules[0].rename.to: Invalid value: "b": it is the name that the field has`},
	{`{rename: {field: "a` + strings.Repeat(".b", 32) + `", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "a.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b": it is more than 32 steps deep`},
	{`{rename: {field: "a` + strings.Repeat(".b", 64) + `", to: b}}`, `spec.conversions[0].rules[0].rename.field: Invalid value: "a.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b": it is more than 32 steps deep`},
	{`{rename: {field: a, to: kind}}`, `spec.conversions[0].rules[0].rename.to: Invalid value: "kind": the server sets it`},
	{`{rename: {field: a, to: metadata}}`, `spec.conversions[0].rules[0].rename.to: Invalid value: "metadata": of metadata, conversions change labels and annotations only: want metadata.labels["KEY"] or metadata.annotations["KEY"]`},
	{`{rename: {field: "l[*].a", to: kind}}`, ""},
	{`{rename: {field: a.b, to: kind}}`, ""},
	{`{move: {from: kind, to: "a["}}`, "spec.conversions[0].rules[0].move.from: Invalid value: \"kind\": the server sets it\nspec.conversions[0].rules[0].move.to: Invalid value: \"a[\": a name is empty: want names with dots between them, [*] for all items, and [\"KEY\"] for odd keys"},
	{`{move: {from: "l[*].a", to: "l[*]"}}`, `spec.conversions[0].rules[0].move.to: Invalid value: "l[*]": it is an item itself: name a field of the item after [*]`},
	{`{split: {field: "l[*]", separator: "-", into: ["l[*].a", "l[*].b"]}}`, `spec.conversions[0].rules[0].split.field: Invalid value: "l[*]": it is an item itself: name a field of the item after [*]`},
	{`{split: {field: a, separator: "-", into: [b, b]}}`, `spec.conversions[0].rules[0].split.into: Invalid value: "b": it is there twice`},
	{`{type: {field: a, from: odd, to: other}}`, "spec.conversions[0].rules[0].type.from: Invalid value: \"odd\": want string, integer, number or boolean\nspec.conversions[0].rules[0].type.to: Invalid value: \"other\": want string, integer, number or boolean"},
	{`{type: {field: a, from: boolean, to: number}}`, `spec.conversions[0].rules[0].type.to: Invalid value: "number": a boolean does not become that`},
	{`{type: {field: a, from: integer, to: boolean}}`, `spec.conversions[0].rules[0].type.to: Invalid value: "boolean": a integer does not become that`},
	{`{scale: {field: a, by: "` + strings.Repeat("1", 64) + `"}}`, ""},
	{`{scale: {field: a, by: "` + strings.Repeat("1", 65) + `"}}`, `spec.conversions[0].rules[0].scale.by: Invalid value: "` + strings.Repeat("1", 65) + `": want a number that is not 0, such as 1000, 0.5 or 1/60`},
	{`{scale: {field: a, by: "1e3"}}`, `spec.conversions[0].rules[0].scale.by: Invalid value: "1e3": want a number that is not 0, such as 1000, 0.5 or 1/60`},
	{`{scale: {field: a, by: "0b11"}}`, `spec.conversions[0].rules[0].scale.by: Invalid value: "0b11": want a number that is not 0, such as 1000, 0.5 or 1/60`},
	{`{cel: {to: a, expression: ""}}`, "spec.conversions[0].rules[0].cel.expression: Required value"},
	{`{cel: {to: a, expression: "1", back: self}}`, `spec.conversions[0].rules[0].cel.back: Invalid value: "self": it makes the value of from, which is not said`},
	{`{cel: {from: "l[*]", to: "l[*].a", expression: self, back: self}}`, `spec.conversions[0].rules[0].cel.from: Invalid value: "l[*]": it is an item itself: name a field of the item after [*]`},
	{`{default: {field: a, value: "` + short[1:] + `"}}`, `spec.conversions[0].rules[0].default.value: Invalid value: "": it is too large`},
	{`{remove: {field: ""}}, {}, {remove: {field: a.}}`, "spec.conversions[0].rules[0].remove.field: Invalid value: \"\": it is empty\nspec.conversions[0].rules[1]: Required value: say what to do: one of rename, move, copy, remove, split, join, regexp, map, default, constant, scale, unit, type, listToMap, mapToList, toList, fromList, union, keep, restore, cel\nspec.conversions[0].rules[2].remove.field: Invalid value: \"a.\": a dot has no name after it"},
	{`{move: {from: a, to: a}}`, `spec.conversions[0].rules[0].move.to: Invalid value: "a": it is where the value is`},
	{`{move: {from: "l[*].a", to: "m[*].a"}}`, `spec.conversions[0].rules[0].move.to: Invalid value: "m[*].a": its [*] is not that of the rule's other fields: all have to be in the same items, so begin it with l[*]`},
	{`{move: {from: "l[*].a", to: "b"}}`, `spec.conversions[0].rules[0].move.to: Invalid value: "b": its [*] is not that of the rule's other fields: all have to be in the same items, so begin it with l[*]`},
	{`{copy: {from: a, to: a.b}}`, `spec.conversions[0].rules[0].copy.to: Invalid value: "a.b": one of the two places is in the other`},
	{`{copy: {from: a.b, to: a}}`, `spec.conversions[0].rules[0].copy.to: Invalid value: "a": one of the two places is in the other`},
	{`{map: {field: a, values: {}}}`, "spec.conversions[0].rules[0].map.values: Required value"},
	{`{map: {field: a, values: {x: w}, others: Odd}}`, `spec.conversions[0].rules[0].map.others: Invalid value: "Odd": want Keep or Fail`},
	{`{map: {field: a, values: {x: z, w: z}}}`, `spec.conversions[0].rules[0].map.values: Invalid value: "z": both "w" and "x" become it; say in back which of them it becomes`},
	{`{map: {field: a, values: {x: z, w: z}, back: {z: x}}}`, ""},
	{`{regexp: {field: a, match: "(", replace: b}}`, "spec.conversions[0].rules[0].regexp.match: Invalid value: \"(\": error parsing regexp: missing closing ): `(`"},
	{`{regexp: {field: a, match: a, replace: b, back: {match: "", replace: c}}}`, "spec.conversions[0].rules[0].regexp.back.match: Required value"},
	{`{default: {field: a}}`, "spec.conversions[0].rules[0].default.value: Required value"},
	{`{scale: {field: a, by: x}}`, `spec.conversions[0].rules[0].scale.by: Invalid value: "x": want a number that is not 0, such as 1000, 0.5 or 1/60`},
	{`{scale: {field: a, by: "0"}}`, `spec.conversions[0].rules[0].scale.by: Invalid value: "0": want a number that is not 0, such as 1000, 0.5 or 1/60`},
	{`{scale: {field: a, by: "1", round: Odd}}`, `spec.conversions[0].rules[0].scale.round: Invalid value: "Odd": want Down, Up or Nearest`},
	{`{unit: {field: a, kind: Odd, unit: s}}`, `spec.conversions[0].rules[0].unit.kind: Invalid value: "Odd": want Duration or Quantity`},
	{`{unit: {field: a, kind: Duration, unit: Mi}}`, `spec.conversions[0].rules[0].unit.unit: Invalid value: "Mi": want ns, us, ms, s, m or h`},
	{`{type: {field: a, from: string, to: string}}`, `spec.conversions[0].rules[0].type.to: Invalid value: "string": a string does not become that`},
	{`{type: {field: a, from: odd, to: string}}`, `spec.conversions[0].rules[0].type.from: Invalid value: "odd": want string, integer, number or boolean`},
	{`{listToMap: {list: l, map: m, key: ""}}`, "spec.conversions[0].rules[0].listToMap.key: Required value"},
	{`{listToMap: {list: l, map: m, key: k, value: k}}`, `spec.conversions[0].rules[0].listToMap.value: Invalid value: "k": it is the key`},
	{`{listToMap: {list: "l[*].x", map: "l[*].y", key: k, order: e.com/o}}`, `spec.conversions[0].rules[0].listToMap.order: Invalid value: "e.com/o": an annotation keeps something of the object, not of each of many items: keep the list as a whole`},
	{`{listToMap: {list: l, map: m, key: k, order: "a b"}}`, `spec.conversions[0].rules[0].listToMap.order: Invalid value: "a b": it does not name an annotation: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
	{`{split: {field: a, separator: "", into: [b, c]}}`, "spec.conversions[0].rules[0].split.separator: Required value"},
	{`{split: {field: a, separator: "-", into: [b]}}`, `spec.conversions[0].rules[0].split.into: Invalid value: "1": want 2 to 16 fields`},
	{`{union: {discriminator: "l[*]", members: {A: "l[*].a"}}}`, `spec.conversions[0].rules[0].union.discriminator: Invalid value: "l[*]": it is an item itself: name a field of the item after [*]`},
	{`{union: {discriminator: t, members: {}}}`, `spec.conversions[0].rules[0].union.members: Invalid value: "0": want 1 to 64 members`},
	{`{keep: {field: "l[*].a"}}`, `spec.conversions[0].rules[0].keep.annotation: Invalid value: "conversion.wasmgate.dev/l...a": an annotation keeps something of the object, not of each of many items: keep the list as a whole`},
	{`{cel: {from: a, to: b, expression: "a +"}}`, "spec.conversions[0].rules[0].cel.expression: Invalid value: \"a +\": expression \"a +\": ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | a +\n | ...^"},
	{`{cel: {to: "l[*].b", expression: "1"}}`, ""},
	{`{}`, "spec.conversions[0].rules[0]: Required value: say what to do: one of rename, move, copy, remove, split, join, regexp, map, default, constant, scale, unit, type, listToMap, mapToList, toList, fromList, union, keep, restore, cel"},
	{`{rename: {field: a, to: b}, remove: {field: a}}`, `spec.conversions[0].rules[0]: Invalid value: ["remove","rename"]: a rule does one thing: make a rule of each`},
}

func TestWhatIsWrongWithRules(t *testing.T) {
	for _, c := range mistakes {
		if got := said(t, c.list); got != c.want {
			t.Errorf("%.200s:\n%s\nwant\n%s", c.list, got, c.want)
		}
	}
}

// said is all that is wrong with rules from v1 to v2.
func said(t *testing.T, list string) string {
	t.Helper()
	_, errs := rules.Compile(spec(t, list))
	var all []string
	for _, e := range errs {
		all = append(all, e.Error())
	}
	return strings.Join(all, "\n")
}
