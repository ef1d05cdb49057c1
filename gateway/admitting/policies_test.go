package admitting

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const registrations = "admissionregistration.k8s.io"

// policy installs a policy about ConfigMaps or CronTabs at v1; spec follows.
func (w *world) policy(kind, name, group, plural, spec string) {
	w.t.Helper()
	w.create(registrations, kind+"admissionpolicies", "", `{"metadata":{"name":"`+name+`"},"spec":{"matchConstraints":{"resourceRules":[
		{"operations":["*"],"apiGroups":["`+group+`"],"apiVersions":["v1"],"resources":["`+plural+`"]}]},`+spec+`}}`)
	w.settled()
}

// bind puts a policy in force; spec follows.
func (w *world) bind(kind, name, policy, spec string) {
	w.t.Helper()
	w.create(registrations, kind+"admissionpolicybindings", "", `{"metadata":{"name":"`+name+`"},"spec":{"policyName":"`+policy+`"`+spec+`}}`)
	w.settled()
}

func (w *world) refuses(body, want string) {
	w.t.Helper()
	_, err := w.try("", "configmaps", "", body, alice)
	if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
		w.t.Errorf("%s: got %v\nwant %s", body, err, want)
	}
}

func TestValidatingPoliciesAreInForceWithTheirBindings(t *testing.T) {
	w := newWorld(t)
	w.policy("validating", "p", "", "configmaps", `"variables":[{"name":"n","expression":"object.metadata.name"}],"validations":[
		{"expression":"variables.n != 'bad'","messageExpression":"'not ' + variables.n"},{"expression":"variables.n != 'worse'","message":" never ","reason":"Forbidden"}]`)
	w.refuses(`{"metadata":{"name":"bad"}}`, "")
	w.bind("validating", "b", "p", `,"validationActions":["Deny"]`)
	w.refuses(`{"metadata":{"name":"good"}}`, "")
	w.refuses(`{"metadata":{"name":"bad"},"data":{}}`, `configmaps "bad" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not bad`)
	_, err := w.try("", "configmaps", "", `{"metadata":{"name":"worse"}}`, alice)
	if !apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), "denied request: never") {
		t.Errorf("got %v", err)
	}
	if _, err := w.try("example.com", "crontabs", "v1", `{"metadata":{"name":"bad"}}`, alice); err != nil {
		t.Error(err)
	}
	if _, err := w.Delete(t.Context(), w.target(registrations, "validatingadmissionpolicybindings", "", "b"), &metav1.DeleteOptions{}, alice); err != nil {
		t.Fatal(err)
	}
	w.settled()
	w.refuses(`{"metadata":{"name":"worse"}}`, "")
}

func TestPoliciesWarn(t *testing.T) {
	w := newWorld(t)
	w.policy("validating", "p", "", "configmaps", `"validations":[{"expression":"false"}]`)
	w.bind("validating", "b", "p", `,"validationActions":["Warn","Audit"]`)
	var warned []string
	o := alice
	o.Warn = func(text string) { warned = append(warned, text) }
	if _, err := w.try("", "configmaps", "", `{"metadata":{"name":"a"}}`, o); err != nil {
		t.Fatal(err)
	}
	if want := []string{"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: false"}; !slices.Equal(warned, want) {
		t.Errorf("warned %q", warned)
	}
}

func TestParametersOfPolicies(t *testing.T) {
	w := newWorld(t)
	w.policy("validating", "p", "", "secrets", `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"params.data.max != object.metadata.name","messageExpression":"string(params.metadata.name)"}]`)
	try := func(want string) {
		t.Helper()
		_, err := w.try("", "secrets", "", `{"metadata":{"generateName":"five"}}`, alice)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	w.bind("validating", "b", "p", `,"validationActions":["Deny"],"paramRef":{"name":"limits","parameterNotFoundAction":"Deny"}`)
	try("failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction")
	w.create("", "configmaps", "", `{"metadata":{"name":"limits","labels":{"a":"b"}},"data":{"max":"5"}}`)
	if _, err := w.try("", "secrets", "", `{"metadata":{"name":"5"}}`, alice); err == nil || !strings.HasSuffix(err.Error(), "denied request: limits") {
		t.Errorf("got %v", err)
	}
	try("")
	w.bind("validating", "c", "p", `,"validationActions":["Deny"],"paramRef":{"selector":{"matchLabels":{"a":"b"}},"parameterNotFoundAction":"Allow"}`)
	w.create("", "configmaps", "", `{"metadata":{"name":"more","labels":{"a":"b"}},"data":{"max":"6"}}`)
	w.settled()
	if _, err := w.try("", "secrets", "", `{"metadata":{"name":"6"}}`, alice); err == nil || !strings.HasSuffix(err.Error(), "with binding 'c' denied request: more") {
		t.Errorf("got %v", err)
	}
}

func TestMutatingPoliciesComeBeforeWebhooksAndAreAskedAgain(t *testing.T) {
	w := newWorld(t)
	w.policy("mutating", "p", "example.com", "crontabs", `"reinvocationPolicy":"IfNeeded","mutations":[
		{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{metadata: Object.metadata{labels: {'seen': string(has(object.metadata.annotations))}}}"}},
		{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'replace', path: '/host', value: object.host + '!'}]"}}]`)
	w.bind("mutating", "b", "p", "")
	w.answer = func(_ string, r map[string]any) string {
		if host := field(r, "object", "host"); host != "h!" {
			t.Errorf("the webhook sees %v", host)
		}
		return patch(`[{"op":"add","path":"/metadata/annotations","value":{"a":"b"}}]`)
	}
	w.configure("mutating", "m", "example.com", "v1", "crontabs", "")
	got := w.create("example.com", "crontabs", "v1", `{"metadata":{"name":"a"},"host":"h","port":"1"}`)
	if !strings.Contains(got, `"labels":{"seen":"true"}`) || !strings.Contains(got, `"host":"h!!"`) || !strings.Contains(got, `"annotations":{"a":"b"}`) || len(w.sent) != 1 {
		t.Errorf("got %s, %d calls", got, len(w.sent))
	}
}

func TestMutationsThatFail(t *testing.T) {
	for expression, want := range map[string]string{
		`Object{nothing: 1}`:                   `error applying patch: failed to convert patch object to typed object: .nothing: field not declared in schema`,
		`Object{data: object.data}`:            ``,
		`Object{data: Object.nothing{a: 'b'}}`: `type mismatch: unexpected type name "Object.nothing", expected "Object.data", which matches field name path from root Object type`,
	} {
		w := newWorld(t)
		w.policy("mutating", "p", "", "configmaps", fmt.Sprintf(`"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":%q}}]`, expression))
		w.bind("mutating", "b", "p", "")
		if want != "" {
			want = "policy 'p' with binding 'b' denied request: " + want
		}
		w.refuses(`{"metadata":{"name":"a"},"data":{"a":"b"}}`, want)
	}
}

func TestAnUnreadablePolicyOrBindingRefusesAllWritesButThoseOfPolicies(t *testing.T) {
	for _, kind := range []string{"validating", "mutating"} {
		for _, what := range []string{"policies", "policybindings"} {
			w := newWorld(t)
			if _, err := w.store.Create(t.Context(), "/registry/"+kind+"admission"+what+"/odd", []byte("k8s\x00nonsense"), 0); err != nil {
				t.Fatal(err)
			}
			w.settled()
			if what == "policies" {
				w.refuses(`{"metadata":{"name":"free"}}`, "")
				w.bind(kind, "b", "odd", map[string]string{"validating": `,"validationActions":["Deny"]`}[kind])
			}
			for _, group := range []string{"", "example.com"} {
				plural := map[string]string{"": "configmaps", "example.com": "crontabs"}[group]
				if _, err := w.try(group, plural, "v1", `{"metadata":{"name":"a"}}`, alice); err == nil || !strings.Contains(err.Error(), "failed to configure policy: it cannot be read: ") {
					t.Errorf("%s %s: %v", kind, what, err)
				}
			}
			if !strings.Contains(w.log.String(), `"name":"odd"`) {
				t.Errorf("logged %s", w.log.String())
			}
		}
	}
}

func TestPoliciesAreNotSubjectToPolicies(t *testing.T) {
	w := newWorld(t)
	w.configure("validating", "one", "", "v1", "configmaps", "")
	w.policy("validating", "p", "*", "*", `"validations":[{"expression":"false"}]`)
	w.bind("validating", "b", "p", `,"validationActions":["Deny"]`)
	w.policy("validating", "q", "*", "*", `"validations":[{"expression":"false"}]`)
	w.refuses(`{"metadata":{"name":"a"}}`, `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: false`)
	if len(w.sent) != 0 {
		t.Error("a webhook was asked about what a policy refused")
	}
}
