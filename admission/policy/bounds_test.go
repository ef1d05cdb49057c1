package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
)

// costing is a condition that holds, and costs about so many thousand units where the host
// is a hundred thousand times a.
func costing(thousands int) string {
	return "object.host.matches('" + strings.Repeat("a", 4*thousands/10) + "')"
}

// expensive is a world whose host costs what [costing] says.
func expensive(t *testing.T) *world {
	w := newWorld(t)
	w.After["host"] = strings.Repeat("a", 99_999)
	return w
}

// What validations cost is bounded: that of all conditions together, with their messages,
// that of annotations, and that of each expression.
func TestCostsOfValidationsAreBounded(t *testing.T) {
	checks := strings.TrimSuffix(strings.Repeat(`{"expression":"`+costing(900)+`"},`, 11), ",")
	annotations := strings.TrimSuffix(strings.Repeat(`{"key":"k","valueExpression":"`+costing(900)+` ? 'x' : 'y'"},`, 12), ",")
	const broke = "validation failed due to running out of cost budget, no further validation rules will be run"
	for name, c := range map[string]struct{ policy, want string }{
		"within":      {`"validations":[` + checks + `]`, ""},
		"conditions":  {`"validations":[` + checks + `,{"expression":"` + costing(900) + `"}]`, broke},
		"a message":   {`"validations":[` + checks + `,{"expression":"false","messageExpression":"string(` + costing(200) + `)"}]`, "failed messageExpression: " + broke},
		"annotations": {`"validations":[{"expression":"true"}],"auditAnnotations":[` + annotations + `]`, broke},
		"one":         {`"validations":[{"expression":"` + costing(1100) + `"}]`, "operation cancelled: actual cost limit exceeded"},
	} {
		for _, failure := range []string{"", `"failurePolicy":"Ignore",`} {
			w := expensive(t)
			err := w.one(failure+c.policy, "")
			if c.want == "" || failure != "" && name != "a message" {
				if err != nil {
					t.Errorf("%s: %.300s", name, err)
				}
				continue
			}
			if failure == "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %.300v", name, err)
			}
			if name != "one" && w.observed[0].Error != OutOfBudget {
				t.Errorf("%s: %v", name, w.observed)
			}
		}
	}
}

// mutateAll asks one mutating policy, p, with bindings.
func (w *world) mutateAll(policy string, bindings map[string]string) error {
	w.t.Helper()
	var bound []*Binding
	for name, spec := range bindings {
		bound = append(bound, Mutating(decode[admissionv1.MutatingAdmissionPolicyBinding](w.t, name, spec)))
	}
	r := admission.NewReinvocation(w.request())
	set := NewSet([]*Mutation{NewMutation(decode[admissionv1.MutatingAdmissionPolicy](w.t, "p", policy))}, bound, nil, UnreadableMutation)
	return admission.Mutate(w.t.Context(), r, w.dispatcher().Stage(set.About(r), r))
}

// Mutations that make no object, or cost too much, refuse, and change nothing.
func TestMutationsThatMakeNoObject(t *testing.T) {
	for name, c := range map[string]struct{ mutation, want string }{
		"no object":     {config(`dyn(1)`), "must evaluate to Object but got dyn"},
		"no number":     {config(`Object{n: double('NaN')}`), "invalid return type: object: cannot encode NaN"},
		"too expensive": {config(`Object{host: string(` + costing(1100) + `)}`), "cost limit exceeded"},
		"a bad patch":   {patching(`[JSONPatch{op: 'add', path: '/n', value: double('NaN')}]`), "NaN"},
		"a deep path":   {patching(`[JSONPatch{op: 'remove', path: '` + strings.Repeat("/0", 257) + `'}]`), "more than 256 steps"},
		"a path within": {patching(`[JSONPatch{op: 'remove', path: '` + strings.Repeat("/0", 256) + `'}]`), "doc is missing path"},
		"deep moves":    {patching(`[` + strings.Repeat(`JSONPatch{op: 'copy', from: '/host', path: '`+strings.Repeat("/0", 250)+`'}, `, 4) + `JSONPatch{op: 'move', from: '/host', path: '/x'}]`), "more than 1000 together"},
		"too many":      {patching(`lists.range(10001).map(i, JSONPatch{op: 'test', path: '/host', value: 'h'})`), "it has 10001 operations; 10000 are allowed"},
		"no list":       {patching(`dyn(1)`), "JSON"},
	} {
		w := expensive(t)
		err := w.mutate(w.request(), map[string]string{"p": mutating(c.mutation)}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || w.Replaced != 0 {
			t.Errorf("%s: %.300v, replaced %d times", name, err, w.Replaced)
		}
	}
	w := newWorld(t)
	if err := w.mutate(w.request(), map[string]string{"p": mutating(config(`Object{host: object.host}`))}, nil); err != nil || w.Replaced != 0 {
		t.Errorf("what makes no difference: %v, replaced %d times", err, w.Replaced)
	}
}

// failing is a request whose object can be read only so often.
type failing struct {
	admission.Attributes
	left *int
}

func (f failing) GetObjectAt(ctx context.Context, version string) (map[string]any, error) {
	if *f.left--; *f.left < 0 {
		return nil, errors.New("no more")
	}
	return f.Attributes.GetObjectAt(ctx, version)
}

// Whichever reading of the object fails, that refuses.
func TestReadingsThatFailRefuse(t *testing.T) {
	for n := range 10 {
		w, left := newWorld(t), n
		err := w.mutate(failing{w.request(), &left}, map[string]string{"p": mutating(config(`Object{host: 'x'}`))}, nil)
		if left >= 0 {
			if n < 2 || err != nil || w.After["host"] != "x" {
				t.Errorf("after %d: %v, %v", n, w.After, err)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), "no more") || w.Replaced != 0 {
			t.Errorf("after %d: %v, replaced %d times", n, err, w.Replaced)
		}
	}
	t.Error("it never ends")
}

// Messages have a size, up to which they are told.
func TestSizesOfMessages(t *testing.T) {
	for n, want := range map[int]string{5120: strings.Repeat("x", 5120), 5121: "no"} {
		w := newWorld(t)
		err := w.one(`"validations":[{"expression":"false","message":"no","messageExpression":"'`+strings.Repeat("x", n)+`'"}]`, "")
		if err == nil || err.Error() != refusal1+want {
			t.Errorf("%d bytes: %.100v", n, err)
		}
	}
	w := newWorld(t)
	if err := w.one(`"validations":[{"expression":"false","message":"no","messageExpression":"' '"}]`, ""); err == nil || err.Error() != refusal1+"no" {
		t.Errorf("a blank: %v", err)
	}
}

// So many failures are audited, in order, and of each policy what it annotates.
func TestFailuresThatAreAuditedAreBounded(t *testing.T) {
	for n, want := range map[int]int{1: 1, 50: 50, 51: 50} {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"expression":"false","message":"m%d"}`, i))
		}
		w := newWorld(t)
		r := w.request()
		r.Annotated = map[string]string{}
		if err := w.validate(r, map[string]string{"p": `"validations":[` + strings.Join(all, ",") + `]`}, map[string]string{"b": `"policyName":"p","validationActions":["Audit"]`}); err != nil {
			t.Fatal(err)
		}
		var told []failure
		if err := json.Unmarshal([]byte(r.Annotated[failureKey]), &told); err != nil || len(told) != want || told[want-1].Message != fmt.Sprint("m", want-1) || told[want-1].ExpressionIndex != want-1 {
			t.Errorf("%d failures: %d told, %v", n, len(told), err)
		}
	}
	w := newWorld(t)
	r := w.request()
	r.Annotated = map[string]string{}
	values := `"validations":[{"expression":"true"}],"auditAnnotations":[{"key":"k","valueExpression":"string(params.v)"}]`
	for _, name := range []string{"a", "b"} {
		w.param(`{"apiVersion":"example.com/v1","kind":"Limit","metadata":{"name":"` + name + `","namespace":"ns"},"v":"` + strings.Repeat(name, 6<<10) + `"}`)
	}
	err := w.validate(r, map[string]string{"p": `"paramKind":{"apiVersion":"example.com/v1","kind":"Limit"},` + values, "q": `"validations":[{"expression":"true"}],"auditAnnotations":[{"key":"k","valueExpression":"'q'"}]`},
		map[string]string{"b": deny + `"policyName":"p","paramRef":{"selector":{}}`, "c": deny + `"policyName":"q"`})
	if want := (strings.Repeat("a", 6<<10) + ", " + strings.Repeat("b", 6<<10))[:maxAnnotation]; err != nil || r.Annotated["p/k"] != want || r.Annotated["q/k"] != "q" || len(r.Annotated) != 2 {
		t.Errorf("%d bytes, %v", len(r.Annotated["p/k"]), err)
	}
}

// What is wrong with one binding leaves the others in force.
func TestBindingsAfterAWrongOne(t *testing.T) {
	const limit = `"paramKind":{"apiVersion":"example.com/v1","kind":"Limit"},`
	for ref, want := range map[string]string{
		`{"name":"z","parameterNotFoundAction":"Deny"}`: "no params found for policy binding with `Deny` parameterNotFoundAction",
		`{"selector":{"matchLabels":{"broken":"yes"}}}`: "no list",
		`{"name":"z"}`: "",
	} {
		w := newWorld(t)
		bindings := map[string]string{"a": deny + `"policyName":"p","paramRef":` + ref, "b": deny + `"policyName":"p"`}
		err := w.validate(w.request(), map[string]string{"p": limit + `"validations":[{"expression":"params != null","message":"later"}]`}, bindings)
		if want == "" {
			want = "later"
		}
		if err == nil || !strings.HasSuffix(err.Error(), want) || !slices.Equal(w.observed, []Decision{{Policy: "p", Binding: "b", Enforcement: Denied, Error: Invalid}}) {
			t.Errorf("%s: %v, %v", ref, err, w.observed)
		}
		w = newWorld(t)
		both := map[string]string{"a": `"policyName":"p","paramRef":` + ref, "p": `"policyName":"p"`}
		err = w.mutateAll(tabs+limit+mutating(config(`Object{host: 'x'}`)), both)
		if w.After["host"] != "x" || (err == nil) != (want == "later") {
			t.Errorf("%s: %v, %v", ref, w.After["host"], err)
		}
	}
}

// A version that the object is not converted to refuses, with and without conditions, and
// where bindings and policies ask for labels of namespaces that are not there.
func TestObjectsThatCannotBeSeen(t *testing.T) {
	const broken = `"matchConstraints":{"matchPolicy":"Equivalent","resourceRules":[{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["broken"],"resources":["tabs"]}]},`
	for _, conditions := range []string{"", `"matchConditions":[{"name":"c","expression":"true"}],`} {
		w := newWorld(t)
		err := w.mutateAll(broken+conditions+mutating(config(`Object{host: 'x'}`)), map[string]string{"p": `"policyName":"p"`})
		if err == nil || !strings.HasSuffix(err.Error(), "failed to convert object version: no conversion") || apierrors.ReasonForError(err) != "Invalid" {
			t.Errorf("%s: %v", conditions, err)
		}
	}
	const selector = `{"namespaceSelector":{"matchLabels":{"team":"x"}}}`
	for name, refused := range map[string]bool{"ns": true, "absent": true} {
		w := newWorld(t)
		r := w.request()
		r.Namespace = name
		err := w.validate(r, map[string]string{"p": `"validations":[{"expression":"false"}]`}, map[string]string{"b": deny + `"policyName":"p","matchResources":` + selector})
		if (err != nil) != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is wrong with the names of types is told once, and not for each object with the
// whole way to it: these would be 225 MB.
func TestCheckOfTypeNamesTellsOne(t *testing.T) {
	twice := func(item string) string { return "[" + strings.TrimSuffix(strings.Repeat(item+",", 50), ",") + "]" }
	text := "[Object{}].map(x, " + twice("x") + ").map(x, Object{" + strings.Repeat("n", 90_000) + ": " + twice("x") + "})[0]"
	w := newWorld(t)
	err := w.mutate(w.request(), map[string]string{"p": mutating(config(text))}, nil)
	if err == nil || !strings.Contains(err.Error(), `unexpected type name "Object"`) || len(err.Error()) > 1<<20 {
		t.Errorf("%d bytes: %.200v", len(err.Error()), err)
	}
}

// Variables that look at all of them do not look at themselves for ever.
func TestVariablesThatAreCompared(t *testing.T) {
	w := newWorld(t)
	if err := w.mutate(w.request(), map[string]string{"p": `"variables":[{"name":"v","expression":"1"}],` + mutating(config(`Object{host: [variables] == [variables] ? 'same' : 'other'}`))}, nil); err != nil || w.After["host"] != "same" {
		t.Errorf("%v, %v", w.After, err)
	}
}

// All variables as a part of what is made are no way into each of them, over and over.
func TestVariablesAsAPart(t *testing.T) {
	variables := `{"name":"a","expression":"'c6'"},{"name":"c0","expression":"0"}`
	for i := 1; i <= 6; i++ {
		one := fmt.Sprintf("variables.c%d, ", i-1)
		variables += fmt.Sprintf(`,{"name":"c%d","expression":"[%s]"}`, i, strings.TrimSuffix(strings.Repeat(one, 100), ", "))
	}
	w := newWorld(t)
	if err := w.mutate(w.request(), map[string]string{"p": `"variables":[` + variables + `],` + mutating(config(`Object{x: variables}`))}, nil); w.After["x"] != nil {
		t.Errorf("%v, %v", w.After["x"], err)
	}
}
