package cel

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/cel/environment"
)

// Expressions read the quantities that there are, and none that takes hours.
func TestQuantitiesThatExpressionsRead_CEL16(t *testing.T) {
	env, err := Base().Env(environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"isQuantity('1Ki')":                                "true",
		"isQuantity('x')":                                  "false",
		"isQuantity('1e-2000000000')":                      "false",
		"quantity('1Ki').compareTo(quantity('1024')) == 0": "true",
		"quantity('1e-2000000000') == quantity('0')":       "has an exponent beyond 1000",
		"quantity('1e2000000000').isInteger()":             "has an exponent beyond 1000",
		"quantity('x') == quantity('0')":                   "quantities must match the regular expression",
	} {
		ast, issues := env.Compile(text)
		if issues.Err() != nil {
			t.Fatalf("%s: %v", text, issues.Err())
		}
		program, err := env.Program(ast)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := ""
		if out, _, err := program.Eval(map[string]any{}); err != nil {
			got = err.Error()
		} else if got = "false"; out.Value() == true {
			got = "true"
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
