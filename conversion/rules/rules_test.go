package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
)

// spec reads the rules from v1 to v2, as a list in YAML.
func spec(t testing.TB, list string) rules.Spec {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte("conversions: [{from: v1, to: v2, rules: [" + list + "]}]"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := rules.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func compile(t testing.TB, list string) *rules.Rules {
	t.Helper()
	r, errs := rules.Compile(spec(t, list))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return r
}

const head = `{"apiVersion":"example.com/%s","kind":"Widget","metadata":{"name":"a","managedFields":[{"manager":"x"}]`

// whole is an object with what comes after its name.
func whole(version, rest string) string {
	return fmt.Sprintf(head, version) + rest + `}`
}

func convert(r *rules.Rules, to, object string) (string, error) {
	out, err := r.Convert(context.Background(), "example.com/"+to, [][]byte{[]byte(object)})
	if err != nil {
		return "", err
	}
	return string(out[0]), nil
}

// operations are what each operation does, there and back.
var operations = []struct{ name, list, v1, v2 string }{
	{"rename", `{rename: {field: spec.a, to: b}}`, `},"spec":{"a":1,"z":1.50,"x":{}}`, `},"spec":{"b":1,"z":1.50,"x":{}}`},
	{"rename in items", `{rename: {field: "spec.l[*].a", to: b}}`, `},"spec":{"l":[{"a":1},{"c":2},3]}`, `},"spec":{"l":[{"b":1},{"c":2},3]}`},
	{"items at any depth", `{rename: {field: "spec.l[*].m[*].n[*].a", to: b}}`, `},"spec":{"l":[{"m":{"k.x":{"n":[{"a":1}]}}}]}`, `},"spec":{"l":[{"m":{"k.x":{"n":[{"b":1}]}}}]}`},
	{"a key of a map", `{rename: {field: 'spec.m["a.b/c"]', to: x.y/z}}`, `},"spec":{"m":{"a.b/c":1}}`, `},"spec":{"m":{"x.y/z":1}}`},
	{"move", `{move: {from: spec.a.b, to: c}}`, `},"spec":{"a":{"b":[1]}}`, `},"c":[1]`},
	{"move into itself", `{move: {from: spec.a, to: spec.a.b}}`, `},"spec":{"a":1}`, `},"spec":{"a":{"b":1}}`},
	{"a swap", `{rename: {field: a, to: c}}, {rename: {field: b, to: a}}, {rename: {field: c, to: b}}`, `},"a":1,"b":2`, `},"a":2,"b":1`},
	{"to a label", `{move: {from: spec.a, to: 'metadata.labels["a/b"]'}}`, `},"spec":{"a":"x","b":1}`, `,"labels":{"a/b":"x"}},"spec":{"b":1}`},
	{"copy", `{copy: {from: spec.a, to: spec.b}}`, `},"spec":{"a":1}`, `},"spec":{"a":1,"b":1}`},
	{"split", `{split: {field: hostPort, separator: ":", into: [host, port], last: true}}`, `},"hostPort":"[::1]:80"`, `},"host":"[::1]","port":"80"`},
	{"split of less", `{split: {field: hostPort, separator: ":", into: [host, port]}}`, `},"hostPort":"a"`, `},"host":"a"`},
	{"split in place", `{split: {field: a, separator: ".", into: [a, b, c]}}`, `},"a":"1.2.3.4"`, `},"a":"1","b":"2","c":"3.4"`},
	{"join", `{join: {fields: [a, b], separator: "/", into: c}}`, `},"a":"1","b":""`, `},"c":"1/"`},
	{"regexp", `{regexp: {field: a, match: '^(\w+)-(\w+)$', replace: '$2.$1', back: {match: '^(\w+)\.(\w+)$', replace: '$2-$1'}}}`, `},"a":"x-y"`, `},"a":"y.x"`},
	{"map", `{map: {field: "l[*]", values: {a: b, c: d}}}`, `},"l":["a","c","e"]`, `},"l":["b","d","e"]`},
	{"default", `{default: {field: spec.a, value: {x: [1]}}}`, `},"spec":{}`, `},"spec":{"a":{"x":[1]}}`},
	{"default of nothing", `{default: {field: spec.a, value: 1}}`, `}`, `}`},
	{"constant", `{constant: {field: "l[*].a", value: x}}`, `},"l":[{},{}]`, `},"l":[{"a":"x"},{"a":"x"}]`},
	{"scale", `{scale: {field: a, by: "1000"}}`, `},"a":1.5`, `},"a":1500`},
	{"scale by a fraction", `{scale: {field: a, by: 1/1024}}`, `},"a":9007199254740993`, `},"a":8796093022208.0009765625`},
	{"unit", `{unit: {field: a, kind: Duration, unit: s}}`, `},"a":90`, `},"a":"90s"`},
	{"quantity", `{unit: {field: a, kind: Quantity, unit: Mi}}`, `},"a":-5`, `},"a":"-5Mi"`},
	{"type", `{type: {field: a, from: string, to: integer}}, {type: {field: b, from: boolean, to: string}}`, `},"a":"80","b":true`, `},"a":80,"b":"true"`},
	{"list to map", `{listToMap: {list: spec.l, map: spec.l, key: name}}`, `},"spec":{"l":[{"name":"a","x":1},{"name":"b"}]}`, `},"spec":{"l":{"a":{"x":1},"b":{}}}`},
	{"list to map of values", `{listToMap: {list: l, map: m, key: k, value: v}}`, `},"l":[{"k":"a","v":1}]`, `},"m":{"a":1}`},
	{"order is kept", `{listToMap: {list: l, map: m, key: k, order: e.com/o}}`, `},"l":[{"k":"b"},{"k":"a"}]`, `,"annotations":{"e.com/o":"[\"b\",\"a\"]"}},"m":{"a":{},"b":{}}`},
	{"map to list", `{mapToList: {list: l, map: m, key: k}}`, `},"m":{"a":{},"b":{"c":1}}`, `},"l":[{"k":"a"},{"k":"b","c":1}]`},
	{"to a list", `{toList: {field: a}}`, `},"a":{"b":1}`, `},"a":[{"b":1}]`},
	{"from a list", `{fromList: {field: a}}`, `},"a":[1]`, `},"a":1`},
	{"union", `{union: {discriminator: s.type, members: {S3: s.s3, Disk: s.disk}}}`, `},"s":{"disk":{},"type":"Disk"}`, `},"s":{"disk":{}}`},
	{"union with its value", `{union: {discriminator: s.type, value: s.config, members: {S3: s.s3, Disk: s.disk}}}`, `},"s":{"config":{"a":1},"type":"S3"}`, `},"s":{"s3":{"a":1}}`},
	{"union that tells nothing", `{union: {discriminator: s.type, keep: e.com/u, members: {S3: s.s3}}}`, `},"s":{"type":"Disk","z":1}`, `,"annotations":{"e.com/u":"[\"Disk\"]"}},"s":{"z":1}`},
	{"union with several members", `{union: {discriminator: type, keep: e.com/u, members: {A: a, B: b}}}`, `},"a":1,"b":1`, `,"annotations":{"e.com/u":"[null,\"A\",\"B\"]"}},"a":1,"b":1`},
	{"keep", `{keep: {field: spec.a}}`, `},"spec":{"a":{"b":[1.50]},"c":1}`, `,"annotations":{"conversion.wasmgate.dev/spec.a":"{\"b\":[1.50]}"}},"spec":{"c":1}`},
	{"restore", `{restore: {field: a, annotation: e.com/a}}`, `,"annotations":{"e.com/a":"7"}}`, `},"a":7`},
	{"cel", `{cel: {from: a, to: b, expression: self + 1, back: self - 1}}`, `},"a":1`, `},"b":2`},
	{"cel in items", `{cel: {from: "l[*]", to: "l[*]", expression: self.upperAscii(), back: self.lowerAscii()}}`, `},"l":["x","y"]`, `},"l":["X","Y"]`},
	{"cel of the object", `{cel: {to: "n", expression: size(self.l)}}`, `},"l":[1,2]`, `},"l":[1,2],"n":2`},
	{"cel of none", `{cel: {to: "n", expression: 'self.?m'}}`, `},"l":1`, `},"l":1`},
}

func TestOperationsThereAndBack(t *testing.T) {
	for _, o := range operations {
		r := compile(t, o.list)
		v1, v2 := whole("v1", o.v1), whole("v2", o.v2)
		if got, err := convert(r, "v2", v1); err != nil || !same(got, v2) {
			t.Errorf("%s: to v2: %v\n got %s\nwant %s", o.name, err, got, v2)
		}
		if got, err := convert(r, "v1", v2); err != nil || !same(got, v1) {
			t.Errorf("%s: to v1: %v\n got %s\nwant %s", o.name, err, got, v1)
		}
	}
}

// same compares objects, numbers as they are written.
func same(a, b string) bool {
	var trees [2]any
	for i, text := range []string{a, b} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&trees[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(trees[0], trees[1])
}

// What no rule names stays as it is written, in its order.
func TestTheRestStaysAsItIs(t *testing.T) {
	r := compile(t, `{rename: {field: "spec.l[*].b", to: c}}`)
	const object = `{"kind":"Widget","zone":1.50,"metadata":{"name":"a","managedFields":[{"manager":"x"}]},"apiVersion":"example.com/%s","spec":{"z":"\u0041","l":[{"a":[1, 2],"%s":1}],"a":{"y":1,"x":2}}}`
	got, err := convert(r, "v2", fmt.Sprintf(object, "v1", "b"))
	if want := fmt.Sprintf(object, "v2", "c"); err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

// What would not come back is refused rather than lost, and the rule is named.
func TestWhatWouldNotComeBackIsRefused(t *testing.T) {
	for _, c := range []struct{ name, list, to, object, want string }{
		{"a separator in a part", `{split: {field: a, separator: ":", into: [b, c]}}`, "v1", `},"b":"x:y","c":"z"`, "Widget a: spec.conversions[0].rules[0].split: the separator is in one of the parts of a"},
		{"a part in the middle", `{split: {field: a, separator: ":", into: [b, c]}}`, "v1", `},"c":"z"`, "c is there without b"},
		{"a value that another one becomes", `{map: {field: a, values: {x: w}}}`, "v2", `},"a":"w"`, "it would not come back"},
		{"another value", `{map: {field: a, values: {x: w}, others: Fail}}`, "v2", `},"a":"z"`, "a value that the rule does not name"},
		{"the same key twice", `{listToMap: {list: l, map: m, key: k}}`, "v2", `},"l":[{"k":"a"},{"k":"a"}]`, "the same k"},
		{"two members", `{union: {discriminator: t, members: {A: a, B: b}}}`, "v1", `},"a":1,"b":1`, "a and b are there"},
		{"two items", `{toList: {field: a}}`, "v1", `},"a":[1,2]`, "a has 2 items"},
		{"no end", `{scale: {field: a, by: "3"}}`, "v1", `},"a":1`, "say how to round"},
		{"no number", `{type: {field: a, from: string, to: integer}}`, "v2", `},"a":"x"`, "is no string that is a integer"},
		{"another type", `{regexp: {field: a, match: x, replace: w, back: {match: w, replace: x}}}`, "v2", `},"a":7`, "a is not a string"},
		{"an annotation that was changed", `{keep: {field: a, annotation: e.com/a}}`, "v1", `,"annotations":{"e.com/a":"{"}}`, "holds no JSON"},
		{"another version", `{rename: {field: a, to: b}}`, "v3", `}`, "no rules lead from"},
		{"work without end", `{cel: {to: a, expression: "self.l.all(x, self.l.all(y, self.l.all(z, x + y + z > 0)))"}}`, "v2", `},"l":[` + strings.Repeat("1,", 999) + `1]`, "cost limit"},
	} {
		from := map[string]string{"v1": "v2", "v2": "v1", "v3": "v1"}[c.to]
		if got, err := convert(compile(t, c.list), c.to, whole(from, c.object)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %s, want %q", c.name, err, got, c.want)
		}
	}
}

func TestErrorsNameTheField(t *testing.T) {
	for _, c := range []struct{ name, list, want string }{
		{"nothing", `{}`, "spec.conversions[0].rules[0]: Required value: say what to do"},
		{"two things", `{keep: {field: a}, remove: {field: a}}`, "spec.conversions[0].rules[0]: Invalid value: [\"keep\",\"remove\"]: a rule does one thing"},
		{"a path", `{remove: {field: a..b}}`, "rules[0].remove.field: Invalid value: \"a..b\": a dot has no name"},
		{"brackets", `{remove: {field: 'a["b'}}`, "a key in brackets has no end"},
		{"metadata", `{remove: {field: metadata.name}}`, "labels and annotations only"},
		{"a type", `{move: {from: kind, to: a}}`, "the server sets it"},
		{"two items", `{move: {from: "a[*].b", to: c}}`, "rules[0].move.to: Invalid value: \"c\": its [*] is not that of the rule's other fields"},
		{"an item", `{remove: {field: "a[*]"}}`, "it is an item itself"},
		{"keep of items", `{keep: {field: "a[*].b"}}`, "keep the list as a whole"},
		{"an expression", `{cel: {to: a, expression: "1 +"}}`, "rules[0].cel.expression: Invalid value"},
		{"no way back", `{cel: {from: a, to: a, expression: self}}`, "spec.conversions[0].rules[0].cel does not say the way back: add back, an expression whose self is the value of to, or write a conversion from v2 to v1"},
		{"a pattern", `{regexp: {field: a, match: "(?=x)", replace: w}}`, "rules[0].regexp.match: Invalid value"},
		{"values", `{map: {field: a, values: {w: z, x: z}}}`, `both "w" and "x" become it; say in back which`},
		{"a factor", `{scale: {field: a, by: "0"}}`, "rules[0].scale.by"},
		{"deep", `{remove: {field: ` + strings.Repeat("a.", 40) + `a}}`, "steps deep"},
		{"many", strings.Repeat(`{remove: {field: a}},`, 129), "spec.conversions[0].rules: Too many"},
	} {
		_, errs := rules.Compile(spec(t, c.list))
		if err := errs.ToAggregate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := rules.Decode([]byte(`{"conversions":[{"form":"v1"}]}`)); err == nil || !strings.Contains(err.Error(), "form") {
		t.Errorf("a field that nobody knows: %v", err)
	}
}

// Ways are made of steps, and written ones count before those that follow.
func TestWaysBetweenVersions(t *testing.T) {
	field := func(f, to string) []rules.Rule { return []rules.Rule{{Rename: &rules.Rename{Field: f, To: to}}} }
	r, errs := rules.Compile(rules.Spec{Conversions: []rules.Conversion{
		{From: "v1", To: "v2", Rules: field("a", "b")}, {From: "v3", To: "v2", Rules: field("c", "b")},
		{From: "v2", To: "v1", Rules: field("b", "other")},
	}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if got, err := convert(r, "v3", whole("v1", `},"a":1`)); err != nil || got != whole("v3", `},"c":1`) {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := convert(r, "v1", whole("v3", `},"c":1`)); err != nil || got != whole("v1", `},"other":1`) {
		t.Errorf("%s, %v", got, err)
	}
	if got := fmt.Sprint(r.Versions()); got != "[v1 v2 v1 v3 v2 v1 v2 v3 v3 v1 v3 v2]" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Convert(ctx, "example.com/v2", [][]byte{[]byte(whole("v1", `}`))}); err == nil {
		t.Error("converted when nobody waits")
	}
}

// define is a definition of Widgets with the properties of v1 and v2.
func define(t testing.TB, v1, v2 string) *crd.Definition {
	t.Helper()
	var c apiextensionsv1.CustomResourceDefinition
	text := fmt.Sprintf(`{metadata: {name: widgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: [
 {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {%s}}}},
 {name: v2, served: true, schema: {openAPIV3Schema: {type: object, properties: {%s}}}}]}}`, v1, v2)
	if err := yaml.UnmarshalStrict([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	d, err := custom.Compile(&c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The proof takes rules as it takes any converter: a field that they drop is found, and
// their twins that keep it pass.
func TestRulesAreProved(t *testing.T) {
	const text, number, list = `{type: string}`, `{type: integer, format: int64}`, `{type: array, items: {type: object, required: [name], properties: {name: {type: string}, x: {type: string}}}}`
	for _, c := range []struct{ name, v1, v2, wrong, good, field string }{
		{"a field is dropped", `zone: ` + text, `other: ` + number, `{remove: {field: zone}}`, `{keep: {field: zone}}, {restore: {field: other}}`, "zone"},
		{"a field is not renamed", `spec: {type: object, properties: {a: ` + list + `}}`, `spec: {type: object, properties: {b: ` + list + `}}`, `{copy: {from: p, to: q}}`, `{rename: {field: spec.a, to: b}}`, "spec.a"},
		{"a field of items", `l: {type: array, items: {type: object, properties: {nr: ` + number + `}}}`, `l: {type: array, items: {type: object, properties: {number: ` + number + `}}}`, `{rename: {field: l.nr, to: number}}`, `{rename: {field: "l[*].nr", to: number}}`, "l[*].nr"},
		{"a copy that is not kept", `a: ` + text, `a: ` + text + `, b: ` + text, `{copy: {from: a, to: b}}`, `{restore: {field: b}}`, "b"},
		{"fractions", `a: ` + number, `a: ` + number, `{scale: {field: a, by: 1/1000, round: Down}}`, `{copy: {from: p, to: q}}`, "a"},
		{"an enum", `a: {type: string, enum: [x, w]}`, `a: {type: string, enum: [p, q]}`, `{map: {field: a, values: {x: p, w: p}, back: {p: x, q: w}}}`, `{map: {field: a, values: {x: p, w: q}}}`, "a"},
	} {
		d := define(t, c.v1, c.v2)
		o := proof.Options{Seed: 1, Budget: 5 * time.Minute, Objects: 150}
		bad := proof.Prove(t.Context(), d, compile(t, c.wrong), o)
		if bad.Verdict != proof.Lossy || bad.Losses[0].Field != c.field && bad.Losses[len(bad.Losses)-1].Field != c.field {
			t.Errorf("%s: %s %s %+v", c.name, bad.Verdict, bad.Why, bad.Losses)
		}
		if good := proof.Prove(t.Context(), d, compile(t, c.good), o); good.Verdict != proof.Lossless {
			t.Errorf("the twin of %s: %s %s %+v", c.name, good.Verdict, good.Why, good.Losses)
		}
	}
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	data, err := yaml.Marshal(v)
	if err == nil {
		data, err = yaml.YAMLToJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What is kept is kept in an annotation of the field's name, in which all is a dot that names
// of annotations cannot have.
func TestNamesOfWhatIsKept(t *testing.T) {
	for want, k := range map[string]rules.Keep{
		"example.com/mine":                      {Field: "spec.a", Annotation: "example.com/mine"},
		"conversion.wasmgate.dev/spec.azAZ09-_": {Field: "spec.azAZ09-_"},
		"conversion.wasmgate.dev/spec.a.b...c":  {Field: "spec[\"a/b: @c\"]"},
		"conversion.wasmgate.dev/spec......a.b": {Field: "spec[\"`{[@\"][\"a^b\"]"},
		"conversion.wasmgate.dev/":              {Field: "spec["},
	} {
		if got := k.Name(); got != want {
			t.Errorf("%s is kept in %s, want %s", k.Field, got, want)
		}
	}
}
