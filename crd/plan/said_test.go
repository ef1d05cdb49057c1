package plan

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// sample is what files say something of here.
type sample struct {
	Name   string            `json:"name"`
	Kind   string            `json:"kind"`
	Size   *int64            `json:"size"`
	Most   *int64            `json:"most"`
	Tags   []string          `json:"tags"`
	Labels map[string]string `json:"labels"`
	Inner  *struct {
		Text string `json:"text"`
		List []struct {
			IP string `json:"ip"`
		} `json:"list"`
	} `json:"inner"`
}

func samples(t *testing.T, own string) *Plan {
	t.Helper()
	a := Additions{}
	if err := yaml.UnmarshalStrict([]byte(own), &a); err != nil {
		t.Fatal(err)
	}
	p, err := NewLibrary(nil).Plan(reflect.TypeFor[*sample](), a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ruled has a rule of an inner object, with more said of it.
func ruled(more string) string {
	return `inner: {rules: [{rule: "self.text == 'a'"` + more + `}]}`
}

// plans are what a file says, a state of a sample, the one before, and what is wrong then.
var plans = []struct{ own, now, was, want string }{
	{`size: {minimum: 1}`, `{size: 0}`, "", "size: Invalid value: 0: must be greater than zero"},
	{`size: {minimum: 1}`, `{size: 1}`, "", ""},
	{`size: {minimum: 2}`, `{size: 1}`, "", "size: Invalid value: 1: must be greater than or equal to 2"},
	{`size: {maximum: 2}`, `{size: 3}`, "", "size: Invalid value: 3: must be less than or equal to 2"},
	{`size: {maximum: 2}`, `{size: 2}`, "", ""},
	{`size: {atMost: {most: is too much}}`, `{size: 3, most: 2}`, "", "size: Invalid value: 3: is too much"},
	{`size: {atMost: {most: is too much}}`, `{size: 2, most: 2}`, "", ""},
	{`size: {grows: shrinks}`, `{size: 1}`, `{size: 2}`, "size: Invalid value: 1: shrinks"},
	{`size: {grows: shrinks}`, `{size: 2}`, `{size: 2}`, ""},
	{`name: {maxLength: 2}`, `{name: abc}`, "", "name: Too long: may not be more than 2 bytes"},
	{`name: {maxLength: 2}`, `{name: ab}`, "", ""},
	{`name: {pattern: "^a+$"}`, `{name: b}`, "", "name: Invalid value: \"b\": must match ^a+$"},
	{`name: {pattern: "^a+$", message: is odd}`, `{name: b}`, "", "name: Invalid value: \"b\": is odd"},
	{`tags: {unique: .}`, `{tags: [a, "", "", a]}`, "", "tags[3]: Duplicate value: \"a\""},
	{`tags: {unique: ., message: is there twice}`, `{tags: [a, a]}`, "", "tags[1]: Invalid value: \"a\": is there twice"},
	{`tags: {maxItems: 1}`, `{tags: [a]}`, "", ""},
	{`"": {oneOf: [name, kind], choice: word}`, `{}`, "", "<nil>: Required value: must specify a word type"},
	{`"": {oneOf: [name, kind]}`, `{}`, "", "<nil>: Required value: must specify one of: name, kind"},
	{`"": {oneOf: [name, kind], choice: word}`, `{name: a, kind: b}`, "", "kind: Forbidden: may not specify more than 1 word type"},
	{`"": {atMostOneOf: [name, kind]}`, `{}`, "", ""},
	{`inner.list[].ip: {format: ip}`, `{inner: {list: [{ip: 01.2.3.4}]}}`, `{inner: {list: [{ip: 01.2.3.4}]}}`, ""},
	{`inner.list[].ip: {format: ip}`, `{inner: {list: [{ip: 01.2.3.4}]}}`, "", "inner.list[0].ip: Invalid value: \"01.2.3.4\": must not have leading 0s"},
	{`name: {format: dns-label}`, `{name: A}`, `{name: A}`, "name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"},
	{`name: {format: dns-label, judged: changed}`, `{name: A}`, `{name: A}`, ""},
	{`name: {format: dns-label, judged: new}`, `{name: A}`, `{kind: k}`, ""},
	{`inner: {judged: changed}
inner.text: {maxLength: 1}`, `{inner: {text: abc}}`, `{inner: {text: abc}}`, ""},
	{`inner: {judged: changed}
inner.text: {maxLength: 1}`, `{inner: {text: abc}}`, `{inner: {text: ab}}`, "inner.text: Too long: may not be more than 1 byte"},
	{`inner: {judged: changed}
inner.text: {maxLength: 1}`, `{inner: {text: abc}}`, "", "inner.text: Too long: may not be more than 1 byte"},
	{`inner: {judged: new}
inner.text: {maxLength: 1}`, `{inner: {text: abc}}`, `{inner: {text: ab}}`, ""},
	{`inner: {judged: new}
inner.text: {maxLength: 1}`, `{inner: {text: abc}}`, "", "inner.text: Too long: may not be more than 1 byte"},
	{`name: {among: ["0.tags[]"]}`, `{name: c, tags: [a, b]}`, "", "name: Not found: \"c\""},
	{`name: {among: ["0.tags[]"]}`, `{name: b, tags: [a, b]}`, "", ""},
	{`name: {among: ["0.tags[].x"]}`, `{name: b, tags: [a, b]}`, "", "name: Not found: \"b\""},
	{`name: {when: kind=x, maxLength: 1}`, `{name: ab, kind: y}`, "", ""},
	{`name: {when: kind=x, maxLength: 1}`, `{name: ab, kind: x}`, "", "name: Too long: may not be more than 1 byte"},
	{"name: {when: kind=x, maxLength: 1}\ntags: {maxItems: 1}", `{name: ab, kind: y, tags: [a, b]}`, "", "tags: Too many: 2: must have at most 1 item"},
	{`name: {when: kind, maxLength: 1}`, `{name: ab, kind: y}`, "", "name: Too long: may not be more than 1 byte"},
	{`name: {immutable: true, required: true}`, `{name: ""}`, `{name: a}`, "name: Required value\nname: Invalid value: \"\": field is immutable"},
	{`name: {required: true, missing: has to be there}`, `{}`, "", "name: Required value: has to be there"},
	{`labels: {required: true}`, `{labels: {}}`, "", "labels: Required value"},
	{`inner: {required: true}`, `{inner: {}}`, "", ""},
	{`size: {required: true}`, `{size: 0}`, "", ""},
	{ruled(``), `{inner: {text: b}}`, "", "inner: Invalid value: {\"text\":\"b\"}: failed rule: self.text == 'a'"},
	{ruled(`, message: is odd, fieldPath: text`), `{inner: {text: b}}`, "", "inner.text: Invalid value: \"b\": is odd"},
	{ruled(`, messageExpression: "'not ' + self.text", fieldPath: "list[1].ip"`), `{inner: {text: b, list: [{ip: x}, {ip: w}]}}`, "", "inner.list[1].ip: Invalid value: \"w\": not b"},
	{ruled(`, message: plain, messageExpression: "self.none", fieldPath: "list[1]"`), `{inner: {text: b, list: [{ip: x}]}}`, "", "inner.list[1]: Invalid value: [{\"ip\":\"x\"}]: plain"},
	{ruled(``), `{inner: {}}`, "", "inner: Invalid value: {}: expression \"self.text == 'a'\": no such key: text"},
	{ruled(`, if: text`), `{inner: {}}`, "", ""},
	{ruled(`, if: "text=b"`), `{inner: {text: c}}`, "", ""},
	{ruled(`, reason: NotFound, fieldPath: "list.[x]"`), `{inner: {text: b}}`, "", "inner.list[x]: Not found: null"},
	{ruled(`, reason: Duplicate, fieldPath: text`), `{inner: {text: b}}`, "", "inner.text: Duplicate value: \"b\""},
	{ruled(`, reason: TooLong, message: is long`), `{inner: {text: b}}`, "", "inner: Too long: is long"},
	{ruled(`, reason: NotSupported, message: is not one`), `{inner: {text: b}}`, "", "inner: Unsupported value: {\"text\":\"b\"}: is not one"},
	{ruled(`, reason: Required, message: " has to be"`), `{inner: {text: b}}`, "", "inner: Required value: has to be"},
	{ruled(`, reason: Required`), `{inner: {text: b}}`, "", "inner: Required value"},
	{ruled(`, fieldPath: "list.[x]", shows: text, message: is odd`), `{inner: {text: b}}`, "", "inner.list[x]: Invalid value: \"b\": is odd"},
	{`"": {rules: [{rule: "false", fieldPath: labels.a.b/c, shows: "labels.[a.b/c]"}]}`, `{labels: {a.b/c: d}}`, "", "labels.a.b/c: Invalid value: \"d\": failed rule: false"},
	{`"": {rules: [{rule: "false", fieldPath: "labels.[a.b/c]"}]}`, `{name: a}`, "", "labels[a.b/c]: Invalid value: \"\": failed rule: false"},
	{`inner: {rules: [{rule: "false", fieldPath: text}]}`, `{inner: {list: []}}`, "", "inner.text: Invalid value: \"\": failed rule: false"},
	{`inner: {rules: [{rule: "false", fieldPath: none.text}]}`, `{inner: {list: []}}`, "", "inner.none.text: Invalid value: null: failed rule: false"},
	{`inner: {rules: [{rule: "false"}]}`, `{inner: {text: ` + strings.Repeat("x", 189) + `}}`, "", `inner: Invalid value: {"text":"` + strings.Repeat("x", 189) + `"}: failed rule: false`},
	{`inner: {rules: [{rule: "false"}]}`, `{inner: {text: ` + strings.Repeat("x", 190) + `}}`, "", "inner: Invalid value: failed rule: false"},
	{`"": {rules: [{rule: "false", message: is odd}]}`, `{}`, "", "[]: Invalid value: {}: is odd"},
	{`size: {rules: [{rule: "oldSelf == self", message: changes}]}`, `{size: 1}`, "{}", ""},
	{`size: {rules: [{rule: "oldSelf == self", message: changes, optionalOldSelf: true}]}`, `{size: 1}`, "{}", "size: Invalid value: 1: changes"},
}

// What is wrong is told in the words of kube-apiserver.
func TestWhatIsSaidByPlans(t *testing.T) {
	for _, c := range plans {
		old := map[string]any(nil)
		if c.was != "" {
			old = parsed(t, c.was)
		}
		var said []string
		for _, e := range samples(t, c.own).Validate(t.Context(), parsed(t, c.now), old) {
			said = append(said, e.Error())
		}
		if got := strings.Join(said, "\n"); got != c.want {
			t.Errorf("%s of %.100s after %s:\n%s\nwant\n%s", c.own, c.now, c.was, got, c.want)
		}
	}
}

// Defaults that expressions give, those that take a field away among them, and what is
// wrong with the expressions.
func TestDefaultsThatExpressionsGive(t *testing.T) {
	for _, c := range []struct{ own, now, want string }{
		{`name: {compute: "self.kind + 'x'"}`, `{kind: a, name: b}`, `{kind: a, name: ax}`},
		{`name: {compute: "null"}`, `{kind: a, name: b}`, `{kind: a}`},
		{`name: {compute: "optional.none()"}` + "\n" + `kind: {defaultFrom: "'k'"}`, `{name: b}`, `{name: b, kind: k}`},
		{`name: {compute: "null"}` + "\n" + `kind: {defaultFrom: "'k'"}`, `{name: b}`, `{kind: k}`},
		{`name: {defaultFrom: "self.kind"}`, `{kind: a, name: ""}`, `{kind: a, name: a}`},
		{`name: {defaultFrom: "self.kind"}`, `{kind: a, name: b}`, `{kind: a, name: b}`},
		{`inner: {defaultFrom: "{'list': [{}]}"}` + "\n" + `inner.list[].ip: {default: x}`, `{}`, `{inner: {list: [{ip: x}]}}`},
		{`inner.list[].ip: {default: x}`, `{inner: {list: [{ip: a}, {}, {ip: ""}]}}`, `{inner: {list: [{ip: a}, {ip: x}, {ip: x}]}}`},
		{`name: {defaultFrom: "self.none"}`, `{}`, ""},
		{`inner.list[].ip: {defaultFrom: "self.none"}`, `{inner: {list: [{}]}}`, ""},
		{`inner.text: {defaultFrom: "up[0].none"}`, `{inner: {}}`, ""},
		{`inner: {defaultFrom: "{'list': [{}]}"}` + "\n" + `inner.list[].ip: {defaultFrom: "self.none"}`, `{}`, ""},
	} {
		got := parsed(t, c.now)
		if err := samples(t, c.own).Default(got); (err != nil) != (c.want == "") || err == nil && !reflect.DeepEqual(got, parsed(t, c.want)) {
			t.Errorf("%s of %s: %v, %v", c.own, c.now, got, err)
		}
	}
}

// Every expression of a plan is compiled once to see whether it can be.
func TestExpressionsOfPlansAreChecked(t *testing.T) {
	for own, want := range map[string]int{
		`name: {compute: "a +"}`: 1, `name: {defaultFrom: "a +"}`: 1, `name: {default: a}`: 0,
		`inner.list[].ip: {rules: [{rule: "b +", messageExpression: "c +"}, {rule: "true", message: is odd}]}`:   2,
		`inner: {rules: [{rule: "true"}, {rule: "false", reason: Forbidden}, {rule: "true", reason: Required}]}`: 2, // nobody is shown expressions
		`labels{}: {rules: [{rule: "b +", reason: Duplicate}]}` + "\n" + `name: {compute: "'a'"}`:                1,
	} {
		if errs := samples(t, own).Check(); len(errs) != want {
			t.Errorf("%s: %v", own, errs)
		}
	}
	twice, err := NewLibrary(map[string]Additions{"core/v1.Container": {"name": {Compute: "a +"}}}).Plan(reflect.TypeFor[*corev1.PodSpec](), nil)
	if err != nil {
		t.Fatal(err)
	}
	if errs := twice.Check(); len(errs) != 1 {
		t.Errorf("of two lists of one type: %v", errs)
	}
}
