package cel

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/cel/environment"
)

// Expressions read the quantities that there are, and none that takes hours.
func TestQuantitiesThatExpressionsRead_CEL16(t *testing.T) {
	for text, want := range map[string]string{
		"isQuantity('1Ki')":                                "true",
		"isQuantity('x')":                                  "false",
		"isQuantity('1e-2000000000')":                      "false",
		"quantity('1Ki').compareTo(quantity('1024')) == 0": "true",
		"quantity('1e-2000000000') == quantity('0')":       "has an exponent beyond 1000",
		"quantity('1e2000000000').isInteger()":             "has an exponent beyond 1000",
		"quantity('x') == quantity('0')":                   "quantities must match the regular expression",
	} {
		out, err := evaluated(t, text)
		got := fmt.Sprint(out)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// evaluated is what an expression of a policy without variables gives.
func evaluated(t *testing.T, text string) (any, error) {
	t.Helper()
	env, err := Base().Env(environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		t.Fatalf("%.80s: %v", text, issues.Err())
	}
	program, err := env.Program(ast)
	if err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
	out, _, err := program.Eval(map[string]any{})
	if err != nil {
		return nil, err
	}
	return out.Value(), nil
}
