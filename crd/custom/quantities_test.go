package custom

import (
	"context"
	"strings"
	"testing"
)

// What a rule would read for hours as a quantity is refused before, wherever the
// object has it.
func TestCostlyQuantities_CEL16(t *testing.T) {
	const reads = `{type: object, properties: {metadata: {type: object}, q: {type: string}, m: {type: object, additionalProperties: {type: string}}, l: {type: array, items: {type: string}}},
		x-kubernetes-validations: [{rule: "!has(self.q) || isQuantity(self.q)"}]}`
	v, free := fooVersion(t, reads, false), fooVersion(t, strings.Replace(reads, "isQuantity(self.q)", "self.q != 'x'", 1), false)
	const bad = "1e-2000000000"
	for fields, want := range map[string]string{
		`"q":"1e-9"`:                            "",
		`"q":"` + bad + `"`:                     `q: Invalid value: "` + bad + `": rules of this kind read quantities: the quantity "` + bad + `" has an exponent beyond 1000`,
		`"q":"1","l":["","` + bad + `"]`:        `l[1]: Invalid value`,
		`"q":"1","m":{"` + bad + `":"v"}`:       `m: Invalid value`,
		`"q":"1","m":{"k":"see 1e-2000000000"}`: "",
	} {
		got := asError(v.Strategy.Validate(context.Background(), foo(t, fields), nil).Errors)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", fields, got, want)
		}
		if got := asError(free.Strategy.Validate(context.Background(), foo(t, fields), nil).Errors); got != "" {
			t.Errorf("%s, without such a rule: %s", fields, got)
		}
	}
	good, old := foo(t, `"q":"1"`), foo(t, `"q":"`+bad+`"`)
	for _, pair := range [][2]string{{"q", "1"}, {"q", bad}} {
		now, before := good, old
		if pair[1] == bad {
			now, before = old, good
		}
		if got := asError(v.Strategy.Validate(context.Background(), now, before).Errors); !strings.Contains(got, "has an exponent beyond") {
			t.Errorf("an update to %s: %s", pair[1], got)
		}
	}
	named := foo(t, `"q":"1"`)
	named.SetName(bad)
	named.SetLabels(map[string]string{"a": bad})
	if got := asError(v.Strategy.Validate(context.Background(), named, nil).Errors); !strings.Contains(got, "metadata.name: Invalid value") || strings.Contains(got, "labels") {
		t.Errorf("its name: %s", got)
	}
}
