package cel

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

func TestWhatExpressionsMayBe_CEL12_CEL13_CEL14_CEL20(t *testing.T) {
	for name, c := range map[string]struct {
		e    *Expression
		sees Sees
		want string // a part of the error
	}{
		"a condition":                  {Condition("object.a == 1"), Sees{}, ""},
		"a condition that is none":     {Condition("1"), Sees{}, "must evaluate to bool"},
		"a condition of unknown type":  {Condition("object.a"), Sees{}, "must evaluate to bool"},
		"a message":                    {Message("'a' + string(object.b)"), Sees{}, ""},
		"a message that is none":       {Message("1"), Sees{}, "must evaluate to string"},
		"an annotation":                {Annotation("'a'"), Sees{}, ""},
		"no annotation":                {Annotation("null"), Sees{}, ""},
		"an annotation that is a bool": {Annotation("true"), Sees{}, "must evaluate to one of [string null_type]"},
		"a variable is anything":       {Variable("x", "object.x"), Sees{}, ""},
		"no parameters":                {Condition("params == null"), Sees{}, "undeclared reference to 'params'"},
		"parameters":                   {Condition("params == null"), Sees{HasParams: true}, ""},
		"no authorizer":                {Condition("authorizer.path('/x').check('get').allowed()"), Sees{}, "undeclared reference to 'authorizer'"},
		"paths and service accounts":   {Condition("authorizer.serviceAccount('ns','sa').path('/x').check('get').allowed()"), Sees{HasAuthorizer: true}, ""},
		"selectors": {Condition("authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c=d').check('list').allowed()"),
			Sees{HasAuthorizer: true}, ""},
	} {
		err := Plain().CompileCELExpression(c.e, c.sees, environment.NewExpressions).Error
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Detail, c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestVariablesAreOfOneCompiler(t *testing.T) {
	one, err := Composed()
	if err != nil {
		t.Fatal(err)
	}
	other, err := Composed()
	if err != nil {
		t.Fatal(err)
	}
	if r := one.CompileAndStoreVariable(Variable("x", "1"), Sees{}, environment.NewExpressions); r.Error != nil {
		t.Fatal(r.Error)
	}
	for c, want := range map[admissioncel.Compiler]bool{one: true, other: false, Plain(): false} {
		if r := c.CompileCELExpression(Condition("variables.x == 1"), Sees{}, environment.NewExpressions); (r.Error == nil) != want {
			t.Errorf("%T: %v", c, r.Error)
		}
	}
	if got := PlainConditions().CompileCondition([]admissioncel.ExpressionAccessor{Condition("true"), Condition("nobody")}, Sees{}, environment.NewExpressions); len(got.CompilationErrors()) != 1 {
		t.Errorf("got %v", got.CompilationErrors())
	}
}

// Expressions that select devices are compiled as those of kube-apiserver 1.36.3.
func TestWhatDevicesAreSelectedBy(t *testing.T) {
	at := field.NewPath("expression")
	for text, want := range map[string]string{
		`device.driver == "a" && device.attributes["a.b"].c`:   "",
		`device.attributes["a.b"].c`:                           "",
		`cel.bind(d, device.attributes["a.b"], d.x && d.y)`:    "",
		`[1, 2].all(a, device.driver.matches("a*b*c*" + "d"))`: "",
		`device.attributes.exists(k, device.attributes.exists(l, device.attributes.exists(m, device.attributes.exists(n, k == l + m + n))))`: "expression: Forbidden: too complex, exceeds cost limit",
		`device.driver`:   `expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string`,
		`device.odd == 1`: `expression: Invalid value: "device.odd == 1": compilation failed: ERROR: <input>:1:7: undefined field 'odd'`,
	} {
		got := ""
		if err := Device(at, text); err != nil {
			got = err.Error()
		}
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %q", text, got, want)
		}
	}
}

func TestErrorsOfExpressions(t *testing.T) {
	at := field.NewPath("spec")
	for _, c := range []struct {
		err  error
		want string
	}{
		{&apiservercel.Error{Type: apiservercel.ErrorTypeRequired, Detail: "d"}, "spec: Required value: d"},
		{fmt.Errorf("w: %w", &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: "d"}), `spec: Invalid value: "text": d`},
		{&apiservercel.Error{Type: apiservercel.ErrorTypeInternal, Detail: "d"}, "spec: Internal error: d"},
		{errors.New("odd"), "spec: Internal error: unsupported error type: odd"},
	} {
		if got := Invalid(at, "text", c.err).Error(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
