package rules_test

import (
	"strings"
	"testing"
)

// Places of one rule may be in each other, or be those of items: nothing is lost there.
func TestPlacesInsideOfEachOther(t *testing.T) {
	for _, c := range []struct{ list, to, object, want string }{
		{`{move: {from: a, to: a.b.c}}`, "v2", `"a":{"x":1}`, `},"a":{"b":{"c":{"x":1}}}`},
		{`{move: {from: a, to: a.b.c}}`, "v1", `"a":{"b":{"c":{"x":1}}}`, `},"a":{"x":1}`},
		{`{cel: {from: a, to: a.b, expression: self, back: self}}`, "v2", `"a":{"x":1}`, `},"a":{"b":{"x":1}}`},
		{`{cel: {from: a, to: a.b, expression: self, back: self}}`, "v2", `"a":7`, `},"a":{"b":7}`},
		{`{cel: {from: a, to: a.b, expression: self, back: self}}`, "v1", `"a":{"b":{"b":1}}`, `},"a":{"b":1}`},
		{`{cel: {from: a, to: b.c, expression: self, back: self}}`, "v2", `"a":{"x":1}`, `},"b":{"c":{"x":1}}`},
		{`{cel: {from: a.b, to: c, expression: "optional.none()", back: self}}`, "v2", `"a":{"b":1},"c":2`, `}`},
		{`{cel: {from: a.b, to: c, expression: self, back: self}}`, "v2", `"a":{"b":null},"d":1`, `},"c":null,"d":1`},
		{`{cel: {to: "l[*].n", expression: size(self.m)}}`, "v2", `"l":[{"m":[1,2]},3,{"m":[]}]`, `},"l":[{"m":[1,2],"n":2},3,{"m":[],"n":0}]`},
		{`{cel: {to: a.b, expression: "1"}}`, "v2", `"c":1`, `},"c":1`},
		{`{cel: {to: a.b, expression: "1"}}`, "v1", `"a":{"b":1},"c":1`, `},"c":1`},
		{`{cel: {to: a, expression: "optional.none()"}}`, "v2", `"a":1,"c":1`, `},"c":1`},
		{`{listToMap: {list: s.l, map: s, key: k}}`, "v2", `"s":{"l":[{"k":"l","x":1},{"k":"a"}]}`, `},"s":{"a":{},"l":{"x":1}}`},
		{`{listToMap: {list: s.l, map: s, key: k}}`, "v1", `"s":{"a":{},"l":{"x":1}}`, `},"s":{"l":[{"k":"a"},{"k":"l","x":1}]}`},
		{`{listToMap: {list: s, map: s.m, key: k}}`, "v2", `"s":[{"k":"a"}]`, `},"s":{"m":{"a":{}}}`},
		{`{split: {field: a, separator: ":", into: [a.b, a.c]}}`, "v2", `"a":"x:y","d":1`, `},"a":{"b":"x","c":"y"},"d":1`},
		{`{split: {field: a, separator: ":", into: [a.b, a.c]}}`, "v1", `"a":{"b":"x","c":"y"},"d":1`, `},"a":"x:y","d":1`},
		{`{split: {field: a.b, separator: ":", into: [a, c]}}`, "v2", `"a":{"b":"x:y"}`, `},"a":"x","c":"y"`},
		{`{split: {field: s.a, separator: ":", into: [b, c]}}`, "v2", `"s":{"a":"x:y"}`, `},"b":"x","c":"y"`},
		{`{split: {field: a, separator: ":", into: [b, a]}}`, "v2", `"a":"x:y"`, `},"a":"y","b":"x"`},
		{`{join: {fields: [a.b, a.c], separator: ":", into: d}}`, "v2", `"a":{"b":"x","c":"y"}`, `},"d":"x:y"`},
		{`{remove: {field: a.b.c}}`, "v2", `"a":{"b":{"c":1}},"d":1`, `},"d":1`},
		{`{remove: {field: a.b.c}}`, "v2", `"a":{"b":{"c":1},"x":1}`, `},"a":{"x":1}`},
		{`{remove: {field: "l[*].a.b"}}`, "v2", `"l":[{"a":{"b":1}},{"a":{"b":1,"c":2}},{}]`, `},"l":[{},{"a":{"c":2}},{}]`},
		{`{remove: {field: 'a["\u0000b"]'}}`, "v2", `"a":{"c":1}`, "refused"},
		{`{remove: {field: 'a["\u0000"].b'}}`, "v2", `"a":{"x":{"b":1}}`, "refused"},
		{`{default: {field: a.b, value: 1}}`, "v2", `"a":[],"c":1`, `},"a":[],"c":1`},
		{`{default: {field: a.b, value: 1}}`, "v2", `"a":{"b":null}`, `},"a":{"b":null}`},
		{`{default: {field: "l[*].a", value: 1}}`, "v2", `"l":[1,{},{"a":2}]`, `},"l":[1,{"a":1},{"a":2}]`},
		{`{default: {field: "l[*].a.b", value: 1}}`, "v2", `"l":[{},{"a":{}}]`, `},"l":[{},{"a":{"b":1}}]`},
		{`{default: {field: a, value: {x: [1, 2]}}}`, "v1", `"a":{ "x" : [1,2] },"b":1`, `},"b":1`},
		{`{default: {field: a, value: 1}}`, "v1", `"a":2,"b":1`, `},"a":2,"b":1`},
		{`{default: {field: a, value: 1}}`, "v1", `"b":1`, `},"b":1`},
		{`{constant: {field: a.b, value: 1}}`, "v2", `"c":1`, `},"c":1`},
		{`{constant: {field: a, value: 1}}`, "v2", `"a":{"b":1}`, `},"a":1`},
		{`{toList: {field: "l[*]"}}`, "v2", `"l":[1,[2]]`, `},"l":[[1],[[2]]]`},
		{`{toList: {field: "l[*]"}}`, "v1", `"l":[[1],2]`, `},"l":[1,2]`},
		{`{keep: {field: s.a, annotation: e.com/a}}`, "v1", `"b":1`, `},"b":1`},
	} {
		if c.want == "refused" {
			if got := said(t, c.list); !strings.Contains(got, "a name is empty") {
				t.Errorf("%s: %s", c.list, got)
			}
			continue
		}
		if got := outcome(t, c.list, c.to, c.object); !alike(c.to, got, c.want) {
			t.Errorf("%s to %s of %s:\n%s\nwant\n%s", c.list, c.to, c.object, got, c.want)
		}
	}
}

// The order of a list comes back as far as the annotation tells it, and of what it does
// not tell by name.
func TestOrdersThatAnAnnotationKept(t *testing.T) {
	for annotation, want := range map[string]string{
		`[\"c\",\"a\",\"b\"]`: "cab", `[\"c\"]`: "cab", `[\"c\",\"c\",\"x\",7]`: "cab", `[]`: "abc", `[tru,\"c\"]`: "abc", `[\"c\"`: "cab", `{`: "abc", ``: "abc", `7`: "abc",
	} {
		r := compile(t, `{listToMap: {list: l, map: m, key: k, order: e.com/o}}`)
		got, err := convert(r, "v1", `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"n","annotations":{"e.com/o":"`+annotation+`"}},"m":{"b":{},"a":{},"c":{}}}`)
		wanted := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"n"},"l":[{"k":"` + strings.Join(strings.Split(want, ""), `"},{"k":"`) + `"}]}`
		if err != nil || !same(got, wanted) {
			t.Errorf("%s: %s, %v", annotation, got, err)
		}
	}
	r := compile(t, `{listToMap: {list: l, map: m, key: k, order: e.com/o}}`)
	for _, c := range [][2]string{
		{`,"l":[{"k":"a"},{"k":"b"}]`, `{"name":"n"},"m":{"a":{},"b":{}}`}, {`,"l":[]`, `{"name":"n"},"m":{}`}, {`,"l":null`, `{"name":"n"},"l":null`}, {``, `{"name":"n"}`},
		{`,"l":[{"k":"b","x":1,"y":2},{"y":1,"k":"a"},{"k":""}]`, `{"annotations":{"e.com/o":"[\"b\",\"a\",\"\"]"},"name":"n"},"m":{"":{},"a":{"y":1},"b":{"x":1,"y":2}}`},
	} {
		got, err := convert(r, "v2", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"n"}`+c[0]+`}`)
		if want := `{"apiVersion":"example.com/v2","kind":"Widget","metadata":` + c[1] + `}`; err != nil || got != want {
			t.Errorf("%s:\n%s, %v\nwant\n%s", c[0], got, err, want)
		}
	}
	got, err := convert(r, "v2", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"n","annotations":7},"l":[{"k":"b"},{"k":"a"}]}`)
	if err == nil || err.Error() != "Widget n: spec.conversions[0].rules[0].listToMap: metadata.annotations is not an object" {
		t.Errorf("an order that cannot be kept: %s, %v", got, err)
	}
}

// What an annotation kept is JSON, and nothing after it.
func TestWhatIsKeptIsJSON(t *testing.T) {
	r := compile(t, `{keep: {field: a.b, annotation: e.com/a}}, {default: {field: a.b.c, value: 1}}`)
	for kept, want := range map[string]string{
		`"7"`: `},"a":{"b":7}}`, `" {\"x\":1}\n"`: `},"a":{"b":{"x":1}}}`, `"{} {}"`: "!", `"{}x"`: "!", `"{"`: "!", `""`: "!", `7`: "!", `null`: "!",
	} {
		got, err := convert(r, "v1", `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"n","annotations":{"e.com/a":`+kept+`}}}`)
		if want == "!" {
			if err == nil || err.Error() != "Widget n: spec.conversions[0].rules[0].keep: the annotation e.com/a holds no JSON: remove it, or mend it" {
				t.Errorf("%s: %s, %v", kept, got, err)
			}
		} else if err != nil || !same(got, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"n"`+want) {
			t.Errorf("%s: %s, %v", kept, got, err)
		}
	}
}
