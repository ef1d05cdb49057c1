package draft

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// What a version keeps although its schema does not name it is in no annotation: it stays where
// it is. That one version drops such is said, and that it takes only some.
func TestWhatSchemasDoNotName(t *testing.T) {
	const open, named, free = `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, `{"type":"object","properties":{"logLevel":{"type":"string"}}}`, `{"x-kubernetes-preserve-unknown-fields":true}`
	both := strings.Replace(named, `"properties"`, `"x-kubernetes-preserve-unknown-fields":true,"properties"`, 1)
	config := func(s string) string { return `{"spec":{"type":"object","properties":{"config":` + s + `}}}` }
	const dropped = "spec.config: v1 keeps in it what no schema names, and v2 drops that?"
	for _, c := range []struct {
		says, a, b string
		want       []string
	}{
		{"a schema comes", open, named, []string{dropped}},
		{"a schema goes", named, open, []string{"spec.config: v2 keeps in it what no schema names, and v1 drops that?"}},
		{"one that names more", open, both, []string{"spec.config: v2 names fields in it that v1 keeps without a name: those of other types are not valid there?"}},
		{"one that names less", both, open, nil},
		{"the same", both, both, nil},
		{"no type, and an object", free, named, []string{"spec.config: it is anything in v1, and an object in v2: values that are no such are not valid there, and what no schema names is dropped?"}},
		{"no type, and one that keeps", free, both, []string{"spec.config: it is anything in v1, and an object in v2: values that are no such are not valid there?"}},
		{"no type, and a text", free, `{"type":"string"}`, []string{"spec.config: it is anything in v1, and a string in v2: values that are no such are not valid there?"}},
		{"an object, and no type", named, free, nil},
		{"anything, and a map", open, `{"type":"object","additionalProperties":{"type":"string"}}`, []string{"spec.config: v1 keeps anything in it: values of other types are not valid at v2?"}},
		{"a map, and anything", `{"type":"object","additionalProperties":{"type":"string"}}`, open, []string{"spec.config: v2 keeps anything in it: values of other types are not valid at v1?"}},
		{"in items", `{"type":"array","items":` + open + `}`, `{"type":"array","items":` + named + `}`, []string{strings.Replace(dropped, "config", "config[*]", 1)}},
		{"switched off", strings.Replace(open, "true", "false", 1), named, []string{"spec.config.logLevel: restore"}},
	} {
		expectGuess(t, c.says, config(c.a), config(c.b), c.want...)
	}
	top := func(s string) *schema {
		return parsed(t, `{"type":"object","x-kubernetes-preserve-unknown-fields":true`+s+`}`)
	}
	for says, n := range map[string]int{`,"properties":{"metadata":{"type":"object"}}`: 0, `,"properties":{"spec":{"type":"object"}}`: 1} {
		if ops := Between(Version{"v1", top("")}, Version{"v2", top(says)}).Ops; len(ops) != n {
			t.Errorf("a whole object%s: %+v", says, ops)
		}
	}
	expectGuess(t, "one that may be elsewhere", config(`{"type":"object","properties":{"zoneFirst":{"type":"string"}}}`), `{"spec":{"type":"object","properties":{"config":`+open+`,"aBigOtherZone":{"type":"string"}}}}`,
		"spec.aBigOtherZone: restore? | spec.aBigOtherZone, of which the other version has spec.config.zoneFirst",
		"spec.config: v2 keeps in it what no schema names, and v1 drops that?",
		"spec.config.zoneFirst: v2 keeps it there, though its schema does not name it? | spec.config.zoneFirst, of which the other version has spec.aBigOtherZone")
}

// Clients of both versions find it where they have it.
func TestWhatSchemasDoNotNameStays(t *testing.T) {
	of := func(config string) *schema {
		return parsed(t, `{"type":"object","properties":{"spec":{"type":"object","properties":{"config":`+config+`}}}}`)
	}
	old, next := of(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`), of(`{"type":"object","properties":{"logLevel":{"type":"string"}}}`)
	const object = `{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"a"},"spec":{"config":{"logLevel":"debug"}}}`
	for _, d := range []Draft{Between(Version{"v1alpha1", old}, Version{"v1", next}), Between(Version{"v1", next}, Version{"v1alpha1", old})} {
		c := d.Rules()
		c.Rules = append(c.Rules, rules.Rule{Remove: &rules.Remove{Field: "none"}}) // a conversion has one rule at least
		r, errs := rules.Compile(rules.Spec{Conversions: []rules.Conversion{c}})
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		stored := []byte(object)
		for _, version := range []string{"v1", "v1alpha1"} {
			got, err := r.Convert(t.Context(), "example.com/"+version, [][]byte{stored})
			if err != nil {
				t.Fatal(err)
			}
			if stored = got[0]; !strings.HasSuffix(string(stored), `"metadata":{"name":"a"},"spec":{"config":{"logLevel":"debug"}}}`) {
				t.Errorf("%s to %s: %s", d.From, d.To, stored)
			}
		}
	}
}
