package rules

import (
	"fmt"
	"strings"
)

// costs are estimates of definitions and budgets of writes.
var costs = map[string]func(*tale){
	"CEL-25 CEL-27 estimates": func(t *tale) {
		list := func(bounds, items, r string) string {
			return t.definition(`{"type":"object","properties":{"l":{"type":"array",`+bounds+`"items":`+items+`}},`+rules(r)+`}`, ``)
		}
		text := `{"type":"string"}`
		t.defineTry(list(``, text, `self.l.all(x, self.l.all(y, x.contains(y)))`), list(`"maxItems":100,`, `{"type":"string","maxLength":100}`, `self.l.all(x, self.l.all(y, x.contains(y)))`),
			list(`"maxItems":10000,`, `{"type":"string","maxLength":10}`, `self.l.all(x, self.l.all(y, x == y))`), list(`"maxItems":1000,`, `{"type":"integer"}`, `self.l.all(x, self.l.all(y, x == y))`), list(`"maxItems":4000,`, `{"type":"integer"}`, `self.l.all(x, self.l.all(y, x == y))`),
			list(``, text, `self.l.all(x, x.matches('^(a|b)+$'))`), list(``, `{"type":"string","enum":["a","b"]}`, `self.l.all(x, x.matches('^(a|b)+$'))`), list(``, `{"type":"string","format":"date"}`, `self.l.all(x, x > timestamp('2020-01-01T00:00:00Z'))`),
			t.definition(`{"type":"object","properties":{"l":{"type":"array","items":{"type":"string",`+rules(`self.matches('^a+$')`)+`}}}}`, ``),
			t.definition(`{"type":"object","properties":{"l":{"type":"array","items":{"type":"array","items":{"type":"string","maxLength":10,`+rules(`self.contains('a')`)+`}}}}}`, ``),
			t.definition(`{"type":"object","properties":{"l":{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer",`+rules(`self > 0`)+`}}}}}`, ``),
			t.definition(`{"type":"object","properties":{"l":{"type":"object","maxProperties":5,"additionalProperties":{"type":"array","maxItems":5,"items":{"type":"integer",`+rules(`self > 0`)+`}}}}}`, ``))
		// Each is below the limit of one rule; together they are not.
		var many []string
		for i := range 14 {
			many = append(many, fmt.Sprintf(`self.l.all(x, self.l.all(y, x != y + %d))`, i))
		}
		t.defineTry(t.definition(`{"type":"object","properties":{"l":{"type":"array","maxItems":1200,"items":{"type":"integer"}}},`+rules(many...)+`}`, ``))
		t.defineTry(t.definition(`{"type":"object","properties":{"s":{"type":"string","maxLength":5000000,`+rules(`{"rule":"self != ''","messageExpression":"self.findAll('a').map(x, self.findAll(x).join(self)).join(self)"}`)+`}}}`, ``))
	},
	"CEL-26 budgets": func(t *tale) {
		// Each rule stays below what one may cost; twelve of them do not stay
		// below what a write may cost, with as long a text.
		var many []string
		for i := range 12 {
			many = append(many, fmt.Sprintf(`!self.s.matches('^%s%d')`, strings.Repeat("x", 350), i))
		}
		t.define(`{"type":"object","properties":{"l":{"type":"array","maxItems":600,"items":{"type":"integer"},`+rules(`self.all(x, self.all(y, x != y + 1000000))`)+`},"s":{"type":"string","maxLength":110000}},`+rules(many...)+`}`, ``)
		t.trySpecs(`{"l":`+numbers(600)+`,"s":""}`, `{"l":`+numbers(20)+`,"s":""}`, `{"s":"`+strings.Repeat("a", 100000)+`"}`, `{"s":"`+strings.Repeat("a", 10000)+`"}`)
		for i := range t.Steps {
			t.Steps[i].Brief = true
		}
	},
}

// numbers is a list of the numbers up to n.
func numbers(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	return `[` + strings.Join(all, ",") + `]`
}
