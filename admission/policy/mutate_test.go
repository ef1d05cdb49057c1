package policy

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
)

func config(e string) string {
	return fmt.Sprintf(`{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":%s}}`, quoted(e))
}

func patching(e string) string {
	return fmt.Sprintf(`{"patchType":"JSONPatch","jsonPatch":{"expression":%s}}`, quoted(e))
}

func mutating(mutations ...string) string {
	return `"mutations":[` + strings.Join(mutations, ",") + `]`
}

// mutate asks mutating policies by name, each with a binding of its name, before
// other stages.
func (w *world) mutate(a admission.Attributes, policies map[string]string, bindings map[string]string, more ...*other) error {
	w.t.Helper()
	var all []*Mutation
	var bound []*Binding
	for name, spec := range policies {
		all = append(all, NewMutation(decode[admissionv1.MutatingAdmissionPolicy](w.t, name, tabs+spec)))
		binding, ok := bindings[name]
		if !ok {
			binding = `"policyName":"` + name + `"`
		}
		bound = append(bound, Mutating(decode[admissionv1.MutatingAdmissionPolicyBinding](w.t, name, binding)))
	}
	set := NewSet(all, bound, nil, UnreadableMutation)
	r := admission.NewReinvocation(a)
	stages := []admission.Stage{w.dispatcher().Stage(set.About(r), r)}
	for _, o := range more {
		o.r = r
		stages = append(stages, o)
	}
	return admission.Mutate(w.t.Context(), r, stages...)
}

func decodeBinding(t *testing.T, name, policy string) *admissionv1.ValidatingAdmissionPolicyBinding {
	return decode[admissionv1.ValidatingAdmissionPolicyBinding](t, name, deny+`"policyName":"`+policy+`"`)
}

func TestWhatMutationsMake_DRY02(t *testing.T) {
	const head = `policy 'p' with binding 'p' denied request: `
	for name, c := range map[string]struct {
		policy string
		want   map[string]any // fields of the object
		wrong  string
	}{
		"a configuration":     {mutating(config(`Object{host: 'new ' + object.host}`)), map[string]any{"host": "new h"}, ""},
		"one after the other": {mutating(config(`Object{host: object.host + '1'}`), config(`Object{host: object.host + '2'}`)), map[string]any{"host": "h12"}, ""},
		"a patch":             {mutating(patching(`[JSONPatch{op: 'replace', path: '/host', value: 'p'}, JSONPatch{op: 'add', path: '/list', value: [1, 2]}]`)), map[string]any{"host": "p", "list": []any{int64(1), int64(2)}}, ""},
		"a patch that tests":  {mutating(patching(`[JSONPatch{op: 'test', path: '/host', value: 'x'}, JSONPatch{op: 'remove', path: '/host'}]`)), map[string]any{"host": "h"}, ""},
		"variables":           {`"variables":[{"name":"v","expression":"object.host + '!'"}],` + mutating(config(`Object{host: variables.v}`), patching(`[JSONPatch{op: 'add', path: '/n', value: variables.v}]`)), map[string]any{"host": "h!", "n": "h!!"}, ""},
		"a condition not met": {`"matchConditions":[{"name":"c","expression":"false"}],` + mutating(config(`Object{host: 'x'}`)), map[string]any{"host": "h"}, ""},
		"a condition met":     {`"matchConditions":[{"name":"c","expression":"object.n == 1"}],` + mutating(config(`Object{host: 'x'}`)), map[string]any{"host": "x"}, ""},
		"one that fails":      {`"matchConditions":[{"name":"c","expression":"object.nothing == 1"}],` + mutating(config(`Object{host: 'x'}`)), nil, head + `expression 'object.nothing == 1' resulted in error: no such key: nothing`},
		"an error":            {mutating(config(`Object{host: object.nothing}`)), nil, head + `expression 'Object{host: object.nothing}' resulted in error: no such key: nothing`},
		"an error, ignored":   {`"failurePolicy":"Ignore",` + mutating(config(`Object{host: object.nothing}`), config(`Object{list: [1]}`)), map[string]any{"host": "h", "list": []any{int64(1)}}, ""},
		"names of types":      {mutating(config(`Object{host: Object.wrong{}}`)), nil, head + `type mismatch: unexpected type name "Object.wrong", expected "Object.host", which matches field name path from root Object type`},
		"many wrong names":    {mutating(config(`Object{list: [Object.wrong{}, Object.wrong{}]}`)), nil, head + `type mismatch: unexpected type name "Object.wrong", expected "Object.list", which matches field name path from root Object type`},
		"all variables":       {`"variables":[{"name":"v","expression":"dyn(variables).v"}],` + mutating(config(`Object{host: string(variables.v)}`)), nil, `policy "p" denied request: failed to configure policy: the variable v takes all variables at once, and so itself: name those that it needs, as in variables.a`},
		"no compilation":      {mutating(config(`nobody`)), nil, head + "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody' (in container '')\n | nobody\n | ^"},
		"a bad path":          {mutating(patching(`[JSONPatch{op: 'remove', path: '/nothing'}]`)), nil, head + `JSON Patch: error in remove for path: '/nothing': Unable to remove nonexistent key: nothing: missing value`},
		"a patch uncompiled":  {mutating(patching(`nobody`)), nil, head + "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody' (in container '')\n | nobody\n | ^"},
		"a defect, ignored":   {`"failurePolicy":"Ignore",` + mutating(patching(`[JSONPatch{op: 'add', path: '/l', value: [null]}, JSONPatch{op: 'test', path: '/l', value: [null]}]`), config(`Object{host: 'x'}`)), map[string]any{"host": "x"}, ""},
		"a patch of nothing":  {`"mutations":[{"patchType":"JSONPatch"}]`, nil, `policy "p" denied request: failed to configure policy: unknown mutation of type "JSONPatch"`},
		"nothing to apply":    {`"mutations":[{"patchType":"ApplyConfiguration"}]`, nil, `policy "p" denied request: failed to configure policy: unknown mutation of type "ApplyConfiguration"`},
		"an unknown mutation": {`"mutations":[{"patchType":"Odd"}]`, nil, `policy "p" denied request: failed to configure policy: unknown mutation of type "Odd"`},
	} {
		w := newWorld(t)
		err := w.mutate(w.request(), map[string]string{"p": c.policy}, nil)
		if c.wrong != "" {
			var status *apierrors.StatusError
			if !errors.As(err, &status) || err.Error() != c.wrong || status.ErrStatus.Code != 403 || len(status.ErrStatus.Details.Causes) != 1 || status.ErrStatus.Details.Causes[0].Message != c.wrong {
				t.Errorf("%s: got %v\nwant %s", name, err, c.wrong)
			}
			reason := map[bool]string{true: "Forbidden", false: "Invalid"}[strings.Contains(c.wrong, "failed to configure")]
			if got := string(apierrors.ReasonForError(err)); got != reason {
				t.Errorf("%s: reason %s", name, got)
			}
			continue
		}
		for field, want := range c.want {
			if err != nil || !reflect.DeepEqual(w.After[field], want) {
				t.Errorf("%s: %v, %v", name, w.After, err)
			}
		}
	}
}

func TestMutationsAreObserved(t *testing.T) {
	w := newWorld(t)
	if err := w.mutate(w.request(), map[string]string{"p": `"failurePolicy":"Ignore",` + mutating(config(`Object{host: 'x'}`), config(`Object{host: object.nothing}`), config(`nobody`))}, nil); err != nil {
		t.Fatal(err)
	}
	want := []Decision{
		{Policy: "p", Binding: "p", Mutating: true, Enforcement: Allowed, Error: Right},
		{Policy: "p", Binding: "p", Mutating: true, Enforcement: Denied, Error: Invalid},
		{Policy: "p", Binding: "p", Mutating: true, Enforcement: Denied, Error: Uncompiled},
	}
	if !slices.Equal(w.observed, want) {
		t.Errorf("observed %v", w.observed)
	}
}

func TestRefusalsOfSeveralPolicies(t *testing.T) {
	w := newWorld(t)
	err := w.mutate(w.request(), map[string]string{
		"a": mutating(config(`Object{host: object.nothing}`)),
		"b": `"paramKind":{"apiVersion":"example.com/v1","kind":"Limit"},` + mutating(config(`Object{}`)),
	}, map[string]string{"b": `"policyName":"b","paramRef":{"name":"z","parameterNotFoundAction":"Deny"}`})
	var status *apierrors.StatusError
	if !errors.As(err, &status) || len(status.ErrStatus.Details.Causes) != 2 || status.ErrStatus.Reason != "Forbidden" ||
		err.Error() != "policy 'b' with binding 'b' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction" {
		t.Errorf("got %#v", err)
	}
}

func TestOverlaysThatAreRefused(t *testing.T) {
	w := newWorld(t)
	w.Unmerged = apierrors.NewServiceUnavailable("no schema")
	if err := w.mutate(w.request(), map[string]string{"p": `"failurePolicy":"Ignore",` + mutating(config(`Object{}`))}, nil); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("a status is the client's: %v", err)
	}
	w.Unmerged = errors.New("no field")
	if err := w.mutate(w.request(), map[string]string{"p": mutating(config(`Object{}`))}, nil); err == nil || !strings.HasSuffix(err.Error(), "denied request: error applying patch: no field") {
		t.Errorf("got %v", err)
	}
}

func TestNothingIsMadeOfWhatGoes(t *testing.T) {
	w := newWorld(t)
	w.After, w.Before = nil, w.After
	r := w.request()
	r.Operation = admission.Delete
	if err := w.mutate(r, map[string]string{"p": `"reinvocationPolicy":"IfNeeded",` + mutating(config(`Object{host: 'x'}`))}, nil); err != nil || w.After != nil || len(w.observed) != 1 {
		t.Errorf("%v, %v, %v", w.After, err, w.observed)
	}
}

// other is a stage that changes a field in the first round.
type other struct {
	w      *world
	r      *admission.Reinvocation
	rounds []bool
	change bool
}

func (o *other) Admit(_ context.Context, again bool) error {
	o.rounds = append(o.rounds, again)
	if o.change && !again {
		next := tree(o.w.t, `{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"one","namespace":"ns"},"host":"other","n":1}`)
		return o.r.Replace(o.w.t.Context(), "v1", next)
	}
	return nil
}

func TestPoliciesAreAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		change bool
		host   string
		rounds int
	}{
		"never":                      {`"reinvocationPolicy":"Never",` + mutating(config(`Object{host: object.host + 'x'}`)), false, "hx", 2},
		"if needed, by its own":      {`"reinvocationPolicy":"IfNeeded",` + mutating(config(`Object{host: object.host + 'x'}`)), false, "hxx", 2},
		"never, after another":       {`"reinvocationPolicy":"Never",` + mutating(config(`Object{host: object.host + 'x'}`)), true, "other", 2},
		"if needed, after another":   {`"reinvocationPolicy":"IfNeeded",` + mutating(config(`Object{host: object.host + 'x'}`)), true, "otherx", 2},
		"if needed, nothing done":    {`"reinvocationPolicy":"IfNeeded","matchConditions":[{"name":"c","expression":"false"}],` + mutating(config(`Object{host: 'x'}`)), false, "h", 1},
		"if needed, no difference":   {`"reinvocationPolicy":"IfNeeded",` + mutating(config(`Object{host: object.host}`)), false, "h", 2},
		"if needed, it always fails": {`"failurePolicy":"Ignore","reinvocationPolicy":"IfNeeded",` + mutating(config(`Object{host: object.nothing}`)), false, "h", 1},
	} {
		w := newWorld(t)
		o := &other{w: w, change: c.change}
		if err := w.mutate(w.request(), map[string]string{"p": c.policy}, nil, o); err != nil || w.After["host"] != c.host || len(o.rounds) != c.rounds {
			t.Errorf("%s: %v, %v, %d rounds", name, w.After["host"], err, len(o.rounds))
		}
	}
}

// Whether a policy is about an object is told by the object as the round began, as in
// kube-apiserver: what another policy labels in it makes no difference.
func TestPoliciesAreFoundBeforeTheFirstChanges(t *testing.T) {
	const selects = `"matchConstraints":{"objectSelector":{"matchExpressions":[{"key":"x","operator":"OPERATOR"}]},"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]},`
	for operator, host := range map[string]string{"DoesNotExist": "b", "Exists": "h"} {
		w := newWorld(t)
		if err := w.mutate(w.request(), map[string]string{
			"a": mutating(config(`Object{metadata: Object.metadata{labels: {"x": "y"}}}`)),
			"b": strings.Replace(selects, "OPERATOR", operator, 1) + `"reinvocationPolicy":"Never",` + mutating(config(`Object{host: 'b'}`)),
		}, nil); err != nil || w.After["host"] != host || !reflect.DeepEqual(w.After["metadata"].(map[string]any)["labels"], map[string]any{"x": "y"}) {
			t.Errorf("%s: %v, %v", operator, w.After, err)
		}
	}
}

func TestParametersTellInvocationsApart(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b"} {
		w.param(`{"apiVersion":"example.com/v1","kind":"Limit","metadata":{"name":"` + name + `","namespace":"ns"},"v":"` + name + `"}`)
	}
	policy := `"reinvocationPolicy":"IfNeeded","paramKind":{"apiVersion":"example.com/v1","kind":"Limit"},"matchConditions":[{"name":"c","expression":"size(object.host) < 3"}],` + mutating(config(`Object{host: object.host + params.v}`))
	if err := w.mutate(w.request(), map[string]string{"p": policy}, map[string]string{"p": `"policyName":"p","paramRef":{"selector":{}}`}); err != nil || w.After["host"] != "hab" {
		t.Errorf("%v, %v", w.After["host"], err)
	}
}

func TestMutatingPoliciesNeedTheNamespaceAndItsObject(t *testing.T) {
	w := newWorld(t)
	r := w.request()
	r.Namespace = "absent"
	if err := w.mutate(r, map[string]string{"p": mutating(config(`Object{}`))}, nil); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	r = w.request()
	r.Objects = nil
	if err := w.mutate(r, map[string]string{"p": mutating(config(`Object{}`))}, nil); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "MutatingAdmissionPolicy has panicked") {
		t.Errorf("got %v", err)
	}
	bad := NewSet(nil, []*Binding{UnreadableBinding("x", errors.New("odd"))}, nil, UnreadableMutation)
	again := admission.NewReinvocation(w.request())
	err := admission.Mutate(t.Context(), again, w.dispatcher().Stage(bad.About(about(schema.GroupResource{Resource: "pods"})), again))
	if err == nil || err.Error() != `policy "x" denied request: failed to configure policy: it cannot be read: odd` {
		t.Errorf("got %v", err)
	}
}
