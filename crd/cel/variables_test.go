package cel

import "testing"

func TestTakesVariablesWhole_CEL25(t *testing.T) {
	for text, want := range map[string]bool{
		"variables.a + variables.b":              false,
		"has(variables.a) && object.variables":   false,
		"[1].map(x, x + variables.a)":            false,
		"'variables'":                            false,
		"variables.?a.orValue(1)":                false,
		"optional.of(variables).?a":              true,
		"variables.":                             false,
		"dyn(variables).v":                       true,
		"[variables] == [variables]":             true,
		"variables.a + dyn(variables).v":         true,
		".variables":                             true,
		"cel.bind(all, variables, [all])":        true,
		"{'a': variables}.a.v":                   true,
		"object.size() > 0 ? variables : object": true,
	} {
		if got := TakesVariablesWhole(text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
