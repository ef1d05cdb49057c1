package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

const refusal1 = `tabs.example.com "one" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `

func TestWhatValidationsSay_CEL20(t *testing.T) {
	long := strings.Repeat("x", 6000)
	for name, c := range map[string]struct {
		policy, binding string
		want            string // after refusal1, "" for allowed
		code            int32
		seen            []Decision
	}{
		"true":                          {`"validations":[{"expression":"object.n == 1"}]`, "", "", 0, nil},
		"false":                         {`"validations":[{"expression":" object.n == 2 "}]`, "", "failed expression: object.n == 2", 422, []Decision{{Policy: "p", Binding: "b", Enforcement: Denied, Error: Invalid}}},
		"a message":                     {`"validations":[{"expression":"false","message":" no ","reason":"Forbidden"}]`, "", "no", 403, nil},
		"a made message":                {`"validations":[{"expression":"false","message":"no","messageExpression":"' made ' + object.host","reason":"RequestEntityTooLarge"}]`, "", "made h", 413, nil},
		"a reason":                      {`"validations":[{"expression":"false","reason":"Unauthorized"}]`, "", "failed expression: false", 401, nil},
		"a message that fails":          {`"validations":[{"expression":"false","message":"no","messageExpression":"string(object.nothing)"}]`, "", "no", 422, nil},
		"a message of lines":            {`"validations":[{"expression":"false","message":"no","messageExpression":"'a\\nb'"}]`, "", "no", 422, nil},
		"a message too long":            {`"validations":[{"expression":"false","message":"no","messageExpression":"'` + long + `'"}]`, "", "no", 422, nil},
		"a later message":               {`"validations":[{"expression":"true"},{"expression":"false","messageExpression":"'second'"}]`, "", "second", 422, nil},
		"an error":                      {`"validations":[{"expression":"object.nothing == 1"}]`, "", "expression 'object.nothing == 1' resulted in error: no such key: nothing", 422, []Decision{{Policy: "p", Binding: "b", Enforcement: Denied, Error: Invalid}}},
		"an error that is ignored":      {`"failurePolicy":"Ignore","validations":[{"expression":"object.nothing == 1"}]`, "", "", 0, []Decision{{Policy: "p", Binding: "b", Enforcement: Allowed, Error: Invalid}}},
		"no compilation":                {`"validations":[{"expression":"nobody"}]`, "", "compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody' (in container '')\n | nobody\n | ^", 422, []Decision{{Policy: "p", Binding: "b", Enforcement: Denied, Error: Uncompiled}}},
		"variables":                     {`"variables":[{"name":"a","expression":"object.n"},{"name":"b","expression":"variables.a + 1"}],"validations":[{"expression":"variables.b == 1"}]`, "", "failed expression: variables.b == 1", 422, nil},
		"a condition that is met":       {`"matchConditions":[{"name":"c","expression":"object.n == 1"}],"validations":[{"expression":"false"}]`, "", "failed expression: false", 422, nil},
		"one that is not":               {`"matchConditions":[{"name":"c","expression":"object.n == 2"}],"validations":[{"expression":"false"}]`, "", "", 0, nil},
		"one that fails":                {`"matchConditions":[{"name":"c","expression":"object.nothing == 2"}],"validations":[{"expression":"true"}]`, "", "expression 'object.nothing == 2' resulted in error: no such key: nothing", 422, nil},
		"one that is ignored":           {`"failurePolicy":"Ignore","matchConditions":[{"name":"c","expression":"object.nothing == 2"}],"validations":[{"expression":"false"}]`, "", "", 0, nil},
		"an annotation":                 {`"auditAnnotations":[{"key":"a","valueExpression":"'x'"}]`, "", "", 0, nil},
		"an annotation that fails":      {`"auditAnnotations":[{"key":"a","valueExpression":"string(object.nothing)"}]`, "", "expression 'string(object.nothing)' resulted in error: no such key: nothing", 422, []Decision{{Policy: "p", Binding: "b", Enforcement: Denied, Error: Invalid}}},
		"one that fails and is ignored": {`"failurePolicy":"Ignore","auditAnnotations":[{"key":"a","valueExpression":"string(object.nothing)"}]`, "", "", 0, nil},
		"the namespace":                 {`"validations":[{"expression":"namespaceObject.metadata.labels.team == 'y'","messageExpression":"namespaceObject.metadata.name"}]`, "", "ns", 422, nil},
		"a binding about others":        {`"validations":[{"expression":"false"}]`, `,"matchResources":{"objectSelector":{"matchLabels":{"a":"c"}}}`, "", 0, nil},
		"a binding about this":          {`"validations":[{"expression":"false"}]`, `,"matchResources":{"objectSelector":{"matchLabels":{"a":"b"}}}`, "failed expression: false", 422, nil},
		"a policy about others":         {`!"matchConstraints":{"matchPolicy":"Equivalent","resourceRules":[{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs"]}],"objectSelector":{"matchLabels":{"a":"c"}}},"validations":[{"expression":"false"}]`, "", "", 0, nil},
	} {
		w := newWorld(t)
		err := w.one(c.policy, c.binding)
		if c.seen != nil && !slices.Equal(w.observed, c.seen) {
			t.Errorf("%s: observed %v", name, w.observed)
		}
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var status *apierrors.StatusError
		if !errors.As(err, &status) || err.Error() != refusal1+c.want || status.ErrStatus.Code != c.code || len(status.ErrStatus.Details.Causes) != 1 || "tabs.example.com \"one\" is forbidden: "+status.ErrStatus.Details.Causes[0].Message != err.Error() {
			t.Errorf("%s: got %v\nwant %d %s", name, err, c.code, c.want)
		}
	}
}

func TestReasonsAreToldOfRefusals(t *testing.T) {
	for reason, code := range map[metav1.StatusReason]int32{"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413, "Invalid": 422, "Odd": 422} {
		if got := codeOf(reason); got != code {
			t.Errorf("%s: %d", reason, got)
		}
	}
	w := newWorld(t)
	if err := w.one(`!"failurePolicy":"Fail","validations":[{"expression":"true"}]`, ""); apierrors.ReasonForError(err) != metav1.StatusReasonInvalid ||
		err.Error() != `tabs.example.com "one" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: policy contained no match constraints, a required field` {
		t.Errorf("got %v", err)
	}
	if err := w.one(`!"failurePolicy":"Ignore","validations":[{"expression":"false"}]`, ""); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestWhatBindingsDoWithDecisions(t *testing.T) {
	for actions, want := range map[string]struct {
		refused bool
		warned  int
		seen    []Enforcement
	}{
		`"Deny"`:         {true, 0, []Enforcement{Denied}},
		`"Warn"`:         {false, 1, []Enforcement{Warned}},
		`"Audit"`:        {false, 0, []Enforcement{Audited}},
		`"Warn","Audit"`: {false, 1, []Enforcement{Warned, Audited}},
		`"Audit","Deny"`: {true, 0, []Enforcement{Audited, Denied}},
	} {
		w := newWorld(t)
		err := w.validate(w.request(), map[string]string{"p": `"validations":[{"expression":"false","message":"no"}]`}, map[string]string{"b": `"policyName":"p","validationActions":[` + actions + `]`})
		var seen []Enforcement
		for _, d := range w.observed {
			seen = append(seen, d.Enforcement)
		}
		if (err != nil) != want.refused || len(w.warned) != want.warned || !slices.Equal(seen, want.seen) {
			t.Errorf("%s: %v, %q, %v", actions, err, w.warned, seen)
		}
		if want.warned > 0 && w.warned[0] != `Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no` {
			t.Errorf("warned %q", w.warned)
		}
	}
}

// What a policy excludes is not its business, whatever its other rules say.
func TestExcludedRules(t *testing.T) {
	rules := func(exclude string) string {
		return `!"matchConstraints":{"matchPolicy":"Equivalent","resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}],"excludeResourceRules":[` + exclude + `]},"validations":[{"expression":"false"}]`
	}
	for exclude, refused := range map[string]bool{
		``: true,
		`{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs"]}`:                           false,
		`{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v2"],"resources":["tabs"]}`:                           false, // it is the same request
		`{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs/status"]}`:                    true,
		`{"operations":["UPDATE"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs"]}`:                      true,
		`{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs"],"resourceNames":["other"]}`: true,
		`{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs"],"resourceNames":["one"]}`:   false,
	} {
		if err := newWorld(t).one(rules(exclude), ""); (err != nil) != refused {
			t.Errorf("excluding %s: %v", exclude, err)
		}
	}
	// A binding excludes by rules of its own.
	if err := newWorld(t).one(rules(""), `,"matchResources":{"excludeResourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["tabs"]}]}`); err != nil {
		t.Errorf("excluded by the binding: %v", err)
	}
}

// What is wrong with a policy refuses, whatever its bindings would do with what it
// says; but nothing if its failures are ignored.
func TestFailuresRefuseWhateverBindingsDo(t *testing.T) {
	const ignored = `"failurePolicy":"Ignore",`
	for what, spec := range map[string]string{
		"no constraints": `"validations":[{"expression":"true"}]`,
		"no parameter":   tabs + `"paramKind":{"apiVersion":"example.com/v1","kind":"Limit"},"validations":[{"expression":"true"}]`,
		"no version":     `"matchConstraints":{"matchPolicy":"Equivalent","resourceRules":[{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["broken"],"resources":["tabs"]}]},"validations":[{"expression":"true"}]`,
		"an annotation":  tabs + `"auditAnnotations":[{"key":"k","valueExpression":"string(object.nothing)"}]`,
	} {
		for _, actions := range []string{`"Warn"`, `"Audit"`, `"Warn","Audit"`} {
			for _, failure := range []string{"", ignored} {
				w := newWorld(t)
				err := w.validate(w.request(), map[string]string{"p": "!" + failure + spec}, map[string]string{
					"b": `"policyName":"p","validationActions":[` + actions + `],"paramRef":{"name":"none","parameterNotFoundAction":"Deny"}`,
				})
				if (err != nil) != (failure == "") || len(w.warned) > 0 {
					t.Errorf("%s, %s%s: %v, %q", what, failure, actions, err, w.warned)
				}
			}
		}
	}
}

func TestPoliciesAndBindingsAreAskedByName(t *testing.T) {
	w := newWorld(t)
	no := `"validations":[{"expression":"false","message":"no"}]`
	err := w.validate(w.request(), map[string]string{"b": no, "a": no, "unbound": no}, map[string]string{
		"y": deny + `"policyName":"a"`, "x": deny + `"policyName":"a"`, "w": deny + `"policyName":"b"`, "lost": deny + `"policyName":"nobody"`,
	})
	var order []string
	for _, d := range w.observed {
		order = append(order, d.Policy+d.Binding)
	}
	if want := []string{"ax", "ay", "bw"}; !slices.Equal(order, want) || err == nil || !strings.Contains(err.Error(), "'a' with binding 'x'") {
		t.Errorf("asked %v, %v", order, err)
	}
}

func TestParametersOfBindings(t *testing.T) {
	const limit, global = `"paramKind":{"apiVersion":"example.com/v1","kind":"Limit"},`, `"paramKind":{"apiVersion":"example.com/v1","kind":"Global"},`
	const shows = `"validations":[{"expression":"false","messageExpression":"params == null ? 'none' : params.v + ''"}]`
	ref := func(text string) string { return `,"paramRef":{` + text + `}` }
	for name, c := range map[string]struct{ policy, binding, want string }{
		"none needed":               {`"validations":[{"expression":"false","messageExpression":"'x'"}]`, ref(`"name":"a"`), "x"},
		"no reference":              {limit + shows, "", "none"},
		"of the namespace":          {limit + shows, ref(`"name":"a"`), "here"},
		"of another":                {limit + shows, ref(`"name":"a","namespace":"other"`), "there"},
		"of the cluster":            {global + shows, ref(`"name":"a"`), "everywhere"},
		"of the cluster, somewhere": {global + shows, ref(`"name":"a","namespace":"ns"`), "failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"},
		"absent, allowed":           {limit + shows, ref(`"name":"z","parameterNotFoundAction":"Allow"`), ""},
		"absent":                    {limit + shows, ref(`"name":"z","parameterNotFoundAction":"Deny"`), "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"},
		"absent, ignored":           {`"failurePolicy":"Ignore",` + limit + shows, ref(`"name":"z","parameterNotFoundAction":"Deny"`), ""},
		"unreadable":                {limit + shows, ref(`"name":"broken","parameterNotFoundAction":"Allow"`), "failed to configure binding: no store"},
		"by labels":                 {limit + shows, ref(`"selector":{"matchLabels":{"l":"x"}}`), "first"},
		"by labels, none":           {limit + shows, ref(`"selector":{"matchLabels":{"l":"y"}},"parameterNotFoundAction":"Deny"`), "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"},
		"by labels that are wrong":  {limit + shows, ref(`"selector":{"matchExpressions":[{"key":"a","operator":"Odd"}]}`), `failed to configure binding: "Odd" is not a valid label selector operator`},
		"of a kind that is not":     {`"paramKind":{"apiVersion":"example.com/v1","kind":"Odd"},` + shows, ref(`"name":"a"`), "failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Odd'"},
	} {
		w := newWorld(t)
		w.param(`{"apiVersion":"example.com/v1","kind":"Limit","metadata":{"name":"a","namespace":"ns"},"v":"here"}`)
		w.param(`{"apiVersion":"example.com/v1","kind":"Limit","metadata":{"name":"a","namespace":"other"},"v":"there"}`)
		w.param(`{"apiVersion":"example.com/v1","kind":"Global","metadata":{"name":"a"},"v":"everywhere"}`)
		w.param(`{"apiVersion":"example.com/v1","kind":"Limit","metadata":{"name":"b","namespace":"ns","labels":{"l":"x"}},"v":"first"}`)
		w.param(`{"apiVersion":"example.com/v1","kind":"Limit","metadata":{"name":"c","namespace":"ns","labels":{"l":"x"}},"v":"second"}`)
		err := w.one(c.policy, c.binding)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), " denied request: "+c.want)) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if name == "by labels" && len(w.observed) != 2 {
			t.Errorf("%d decisions", len(w.observed))
		}
	}
	w := newWorld(t)
	r := w.request()
	r.Namespace = ""
	err := w.validate(r, map[string]string{"p": limit + shows}, map[string]string{"b": deny + `"policyName":"p"` + ref(`"name":"a"`)})
	if err == nil || !strings.HasSuffix(err.Error(), "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources") {
		t.Errorf("got %v", err)
	}
}

func TestRequestsAreSeenAtTheVersionThatMatches_CEL13_CEL14(t *testing.T) {
	w := newWorld(t)
	const v2 = `!"matchConstraints":{"matchPolicy":"Equivalent","resourceRules":[{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["VERSION"],"resources":["tabs"]}]},`
	const shows = `"validations":[{"expression":"false","messageExpression":"object.apiVersion + ' ' + request.resource.version + ' ' + request.kind.version + ' ' + request.requestKind.version + ' ' + request.userInfo.username"}]`
	err := w.one(strings.Replace(v2, "VERSION", "v2", 1)+shows, "")
	if err == nil || !strings.HasSuffix(err.Error(), "example.com/v2 v2 v2 v1 alice") {
		t.Errorf("got %v", err)
	}
	err = w.one(strings.Replace(v2, "VERSION", "broken", 1)+shows, "")
	if err == nil || !strings.HasSuffix(err.Error(), "denied request: failed to configure binding: failed to convert object version: no conversion") {
		t.Errorf("got %v", err)
	}
	if err := w.one(strings.Replace(v2, "VERSION", "broken", 1)+`"failurePolicy":"Ignore",`+shows, ""); err != nil {
		t.Errorf("got %v", err)
	}
	err = w.one(`"validations":[{"expression":"authorizer.group('').resource('pods').check('get').allowed() || authorizer.serviceAccount('n','s').path('/x').check('post').allowed()"}]`, "")
	if want := []string{"get pods alice", "post /x system:serviceaccount:n:s"}; err == nil || !slices.Equal(w.asked, want) {
		t.Errorf("asked %q", w.asked)
	}
}

func TestNamespacesOfRequests(t *testing.T) {
	w := newWorld(t)
	all := map[string]string{"p": `!"matchConstraints":{"matchPolicy":"Equivalent","resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]},"validations":[{"expression":"namespaceObject == null"}]`}
	bindings := map[string]string{"b": deny + `"policyName":"p"`}
	for namespace, want := range map[string]string{"ns": "failed expression", "": "", "absent": `namespaces "absent" not found`} {
		r := w.request()
		r.Namespace = namespace
		err := w.validate(r, all, bindings)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", namespace, err)
		}
	}
	r := w.request()
	r.Resource, r.Namespace = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "one"
	if err := w.validate(r, all, bindings); err != nil {
		t.Errorf("a namespace: %v", err)
	}
}

func TestNamesThatAreMadeLater(t *testing.T) {
	w := newWorld(t)
	w.After = tree(t, `{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"generateName":"gen-"}}`)
	r := w.request()
	r.Name = ""
	err := w.validate(r, map[string]string{"p": `"validations":[{"expression":"false"}]`}, map[string]string{"b": deny + `"policyName":"p"`})
	if err == nil || !strings.HasPrefix(err.Error(), `tabs.example.com "gen-" is forbidden`) {
		t.Errorf("got %v", err)
	}
}

func TestWordsForErrors(t *testing.T) {
	for want, err := range map[string]error{
		OutOfBudget: fmt.Errorf("w: %w", &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Cause: apiservercel.ErrOutOfBudget}),
		Uncompiled:  &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Cause: &apiservercel.CompilationError{}},
		Invalid:     &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: "compilation failed"},
	} {
		if got := errorOf(err); got != want {
			t.Errorf("%v: %s", err, got)
		}
	}
	if got := errorOf(nil); got != Invalid {
		t.Errorf("got %s", got)
	}
}

func TestWhatCannotBeReadRefusesEverything(t *testing.T) {
	w := newWorld(t)
	cause := errors.New("odd")
	bound := []*Binding{Validating(decodeBinding(t, "b", "gone")), UnreadableBinding("c", cause)}
	s := NewSet([]*Validation{UnreadableValidation("gone", cause), UnreadableValidation("unbound", cause)}, bound, nil, UnreadableValidation)
	for _, gr := range []schema.GroupResource{{Group: "example.com", Resource: "tabs"}, {Resource: "pods"}} {
		if got := s.About(about(gr)); len(got) != 2 || len(s.About(about(gr))) != 2 {
			t.Errorf("%v: %d policies", gr, len(got))
		}
	}
	err := w.dispatcher().Validate(t.Context(), s.About(w.request())[:1], w.request())
	if err == nil || err.Error() != `tabs.example.com "one" is forbidden: ValidatingAdmissionPolicy 'c' denied request: failed to configure policy: it cannot be read: odd` {
		t.Errorf("got %v", err)
	}
	if got := NewSet[*Validation](nil, nil, nil, UnreadableValidation).About(about(schema.GroupResource{})); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestPanicsOfExpressionsAreErrors(t *testing.T) {
	w := newWorld(t)
	r := w.request()
	r.Objects = nil
	err := w.validate(r, map[string]string{"p": `"validations":[{"expression":"false"}]`}, map[string]string{"b": deny + `"policyName":"p"`})
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy has panicked: ") {
		t.Errorf("got %v", err)
	}
}
