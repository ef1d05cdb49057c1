package rules_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

// What a rule refuses is the object's affair, as a module's refusal is: lists can leave
// the object out, and a definition that binds such rules is refused. That nothing leads to
// a version, or that the time is over, says nothing of an object.
func TestRefusalsAreOfObjects_CRD13(t *testing.T) {
	const list = `{listToMap: {list: l, map: m, key: k}}`
	twice := whole("v1", `},"l":[{"k":"a"},{"k":"a"}]`)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name, to string
		ctx      context.Context
		want     bool
	}{
		{"the same key twice", "v2", t.Context(), true},
		{"no way to the version", "v3", t.Context(), false},
		{"the time is over", "v2", ended, false},
	} {
		_, err := compile(t, list).Converter("r").Convert(c.ctx, "example.com/"+c.to, [][]byte{[]byte(twice)})
		var failed *conversion.Error
		if !errors.As(err, &failed) || failed.OfObjects() != c.want {
			t.Errorf("%s: %v, of objects: %v", c.name, err, failed.OfObjects())
		}
	}
}

// Rules that double what is there, again and again, end before they have the memory of
// the machine.
func TestRulesWriteABoundedAmount(t *testing.T) {
	var doubling []string
	for i := range 40 {
		doubling = append(doubling, fmt.Sprintf(`{copy: {from: f%d, to: f%d.l}}, {copy: {from: f%[1]d, to: f%d.r}}`, i, i+1, i+1))
	}
	var quoting []string
	for i := range 40 {
		quoting = append(quoting, fmt.Sprintf(`{keep: {field: 'metadata.annotations["e.com/a%d"]', annotation: e.com/a%d}}`, i, i+1))
	}
	const want = "the rules have written more than 67108864 bytes by now"
	for name, c := range map[string]struct{ list, object string }{
		"copies":    {strings.Join(doubling, ", "), `},"f0":"x"`},
		"escapes":   {`{map: {field: "l[*]", values: {a: "` + strings.Repeat(`\x01`, 4000) + `"}}}`, `},"l":[` + strings.Repeat(`"a",`, 3000) + `"b"]`},
		"quotes":    {strings.Join(quoting, ", "), `,"annotations":{"e.com/a0":"\"\\\""}}`},
		"constants": {`{constant: {field: "l[*].a", value: "` + strings.Repeat("x", 4000) + `"}}`, `},"l":[` + strings.Repeat("{},", 20000) + `{}]`},
	} {
		if got, err := convert(compile(t, c.list), "v2", whole("v1", c.object)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	// What is moved as a whole, again and again, is no such thing.
	var moves []string
	for i := range 50 {
		moves = append(moves, fmt.Sprintf(`{move: {from: a%d, to: a%d}}`, i, i+1))
	}
	large := strings.Repeat("x", 1<<20)
	if got, err := convert(compile(t, strings.Join(moves, ", ")), "v2", whole("v1", `},"a0":"`+large+`"`)); err != nil || !same(got, whole("v2", `},"a50":"`+large+`"`)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A replacement is bounded before it is made, and a search by what it may take.
func TestReplacementsAreBounded(t *testing.T) {
	for _, c := range []struct{ match, replace, text, want string }{
		{"x*", strings.Repeat("y", 4000), strings.Repeat("z", 1<<20), "a becomes larger than 1048576 bytes"},
		{".*", strings.Repeat("$0", 2000), strings.Repeat("z", 1<<20), "a becomes larger than 1048576 bytes"},
		{"(x{500}){2}", "y", strings.Repeat("x", 1<<20), "a is too long for the expression: 1048576 bytes"},
		{strings.Repeat("(a?)", 1000) + "b", "$1", strings.Repeat("a", 60_000), "a is too long for the expression: 60000 bytes"},
		{"x.*y|x", "z", strings.Repeat("x", 1<<20), "a is searched for longer than 5s"},
		{"[0-9]", "<$0>", strings.Repeat("7", 1<<18), ""},
		{"b", strings.Repeat("y", 4000), strings.Repeat("z", 1<<19) + "b", ""},
	} {
		list := fmt.Sprintf(`{regexp: {field: a, match: "%s", replace: "%s", back: {match: "%[1]s", replace: ""}}}`, c.match, c.replace)
		got, err := convert(compile(t, list), "v2", whole("v1", `},"a":"`+c.text+`"`))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("%.10s by %.10s: %d bytes, %v", c.match, c.replace, len(got), err)
		}
	}
}

// What an annotation keeps of a union counts only while the members are those it was
// kept beside: whoever has given the object another since does not know of it.
func TestAUnionThatWasEdited(t *testing.T) {
	const own = `{union: {discriminator: t, keep: e.com/u, members: {A: a, B: b}}}`
	const valued = `{union: {discriminator: t, value: c, keep: e.com/u, members: {A: a, B: b}}}`
	kept := func(text string) string { return `,"annotations":{"e.com/u":"` + text + `"}}` }
	for _, c := range []struct{ name, list, v2, want string }{
		{"a name without a member got one", own, kept(`[\"A\"]`) + `,"b":1`, `},"b":1,"t":"B"`},
		{"and where its value has a place of its own", valued, kept(`[\"A\"]`) + `,"b":1`, `},"c":1,"t":"B"`},
		{"several members became one", own, kept(`[null,\"A\",\"B\"]`) + `,"b":1`, `},"b":1,"t":"B"`},
		{"one became another", own, kept(`[\"A\",\"B\"]`) + `,"a":1`, `},"a":1,"t":"A"`},
		{"the member is still the same", own, kept(`[\"A\",\"B\"]`) + `,"b":2`, `},"b":2,"t":"A"`},
		{"a name of none", own, kept(`[\"C\"]`), `},"t":"C"`},
		{"all are gone", own, kept(`[null,\"A\",\"B\"]`), `}`},
		{"as it was kept once", own, kept(`\"A\"`) + `,"b":1`, `},"b":1,"t":"A"`},
		{"as several were", own, kept(`null`) + `,"a":1,"b":1`, `},"a":1,"b":1`},
		{"what is nothing", own, kept(`[`) + `,"b":1`, `},"b":1,"t":"B"`},
	} {
		if got, err := convert(compile(t, c.list), "v1", whole("v2", c.v2)); err != nil || !same(got, whole("v1", c.want)) {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, whole("v1", c.want))
		}
	}
}

// Maps of many keys take a time that grows with the keys, not with their square: 100,000
// would take minutes.
func TestMapsOfManyKeys(t *testing.T) {
	var m, l []string
	for i := range 100_000 {
		m = append(m, fmt.Sprintf(`"k%06d":{"a":%d}`, i, i))
		l = append(l, fmt.Sprintf(`{"k":"k%06d","b":%d}`, i, i))
	}
	r := compile(t, `{rename: {field: "m[*].a", to: b}}, {mapToList: {list: l, map: m, key: k, order: e.com/o}}`)
	got, err := convert(r, "v2", whole("v1", `},"m":{`+strings.Join(m, ",")+`}`))
	if want := whole("v2", `},"l":[`+strings.Join(l, ",")+`]`); err != nil || !same(got, want) {
		t.Errorf("%v, %d bytes instead of %d", err, len(got), len(want))
	}
}

// An annotation keeps one thing: a rule that would put something beside it, or take out what
// another one put there, is refused. What is taken out first leaves it free.
func TestAnnotationsKeepOneThing(t *testing.T) {
	const kept, order, union = `{keep: {field: a, annotation: e.com/k}}`, `{listToMap: {list: l, map: m, key: k, order: e.com/k}}`, `{union: {discriminator: t, keep: e.com/k, members: {A: x, B: y}}}`
	const back, unmap = `{restore: {field: b, annotation: e.com/k}}`, `{mapToList: {list: l, map: m, key: k, order: e.com/k}}`
	for _, c := range []struct{ list, want string }{
		{kept + `, {keep: {field: b, annotation: e.com/k}}`, "keep.annotation"},
		{kept + ", " + order, "listToMap.order"},
		{order + ", " + union, "union.keep"},
		{union + ", " + kept, "keep.annotation"},
		{kept + ", " + back, "restore.annotation"},
		{back + `, {restore: {field: c, annotation: e.com/k}}`, "restore.annotation"},
		{back + ", " + unmap, "mapToList.order"},
		{`{keep: {field: spec.a.b}}, {keep: {field: 'spec["a.b"]'}}`, "keep.annotation"},
		{back + ", " + kept, ""},
		{unmap + ", " + kept, ""},
		{kept + `, {keep: {field: b, annotation: e.com/other}}`, ""},
	} {
		errs := wrongWith(t, c.list)
		var got []string
		for _, err := range errs {
			if err.Type == field.ErrorTypeDuplicate && err.Detail == "another rule keeps something in it: name another annotation" {
				got = append(got, strings.TrimPrefix(err.Field, "spec.conversions[0].rules[1]."))
			}
		}
		if len(errs) != len(got) || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v", c.list, errs)
		}
	}
	if got, err := convert(compile(t, back+", "+kept), "v2", whole("v1", `,"annotations":{"e.com/k":"2"}},"a":1`)); err != nil || !strings.Contains(got, `"annotations":{"e.com/k":"1"}`) || !strings.HasSuffix(got, `},"b":2}`) {
		t.Errorf("one taken out, and one put in: %s, %v", got, err)
	}
}

// What is stored since before an annotation kept one thing converts as it did.
func TestStoredRulesMayShareAnAnnotation(t *testing.T) {
	keeps := []rules.Rule{{Keep: &rules.Keep{Field: "a", Annotation: "e.com/k"}}, {Keep: &rules.Keep{Field: "b", Annotation: "e.com/k"}}}
	r, doubts, errs := rules.CompileStored(rules.Spec{Conversions: []rules.Conversion{{From: "v1", To: "v2", Rules: keeps}}})
	if len(errs) > 0 || len(doubts) != 1 || doubts[0].Field != "spec.conversions[0].rules[1].keep.annotation" {
		t.Fatalf("doubts %v, errors %v", doubts, errs)
	}
	if got, err := convert(r, "v2", whole("v1", `},"a":1`)); err != nil || !strings.Contains(got, `"annotations":{"e.com/k":"1"}`) {
		t.Errorf("it becomes %s, %v", got, err)
	}
	keeps[0].Remove = &rules.Remove{Field: "a"}
	if r, doubts, errs := rules.CompileStored(rules.Spec{Conversions: []rules.Conversion{{From: "v1", To: "v2", Rules: keeps}}}); r != nil || len(errs) != 1 || len(doubts) > 0 {
		t.Errorf("of others there are rules %v, doubts %v, errors %v", r, doubts, errs)
	}
}

// wrongWith is what is wrong with rules from v1 to v2.
func wrongWith(t *testing.T, list string) field.ErrorList {
	t.Helper()
	var all []rules.Rule
	if err := yaml.UnmarshalStrict([]byte("["+list+"]"), &all); err != nil {
		t.Fatal(err)
	}
	_, errs := rules.Compile(rules.Spec{Conversions: []rules.Conversion{{From: "v1", To: "v2", Rules: all}}})
	return errs
}
