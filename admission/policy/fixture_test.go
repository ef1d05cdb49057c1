package policy

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// world is a write, and what policies may look up.
type world struct {
	admissiontest.Objects
	t        *testing.T
	params   []*unstructured.Unstructured
	warned   []string
	observed []Decision
	asked    []string // of what the authorizer was asked
}

func newWorld(t *testing.T) *world {
	w := &world{t: t}
	w.After = tree(t, `{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"one","namespace":"ns","labels":{"a":"b"}},"host":"h","n":1}`)
	return w
}

var tree = admissiontest.Tree

// lookup implements Params: of Limits, in namespaces, and Globals.
type lookup struct{ w *world }

func (l lookup) Namespaced(kind schema.GroupVersionKind) (bool, bool) {
	return kind.Kind == "Limit", kind.Kind == "Limit" || kind.Kind == "Global"
}

func (l lookup) Get(_ context.Context, _ schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	if name == "broken" {
		return nil, errors.New("no store")
	}
	for _, p := range l.w.params {
		if p.GetName() == name && p.GetNamespace() == namespace {
			return p, nil
		}
	}
	return nil, nil
}

func (l lookup) Select(_ context.Context, _ schema.GroupVersionKind, namespace string, s labels.Selector) (out []*unstructured.Unstructured, err error) {
	if s.String() == "broken=yes" {
		return nil, errors.New("no list")
	}
	for _, p := range l.w.params {
		if p.GetNamespace() == namespace && s.Matches(labels.Set(p.GetLabels())) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (w *world) param(text string) {
	w.params = append(w.params, &unstructured.Unstructured{Object: tree(w.t, text)})
}

// request is the creation of a Tab at v1.
func (w *world) request() *admissiontest.Attributes {
	return &admissiontest.Attributes{
		Operation: admission.Create, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "tabs"},
		Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Tab"}, Versions: []string{"v2", "broken"},
		Namespace: "ns", Name: "one", User: &authn.User{Name: "alice"}, Options: &metav1.CreateOptions{},
		Objects: &w.Objects, Namespaces: admissiontest.Namespaces{"ns": {"team": "x"}}, Warned: &w.warned,
	}
}

// dispatcher denies whatever expressions ask, and notes what it is told.
func (w *world) dispatcher() *Dispatcher {
	return &Dispatcher{
		Params: lookup{w}, Observe: w.observe,
		Authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			w.asked = append(w.asked, a.GetVerb()+" "+a.GetResource()+a.GetPath()+" "+a.GetUser().GetName())
			return authorizer.DecisionDeny, "never", nil
		}),
	}
}

func (w *world) observe(d Decision) {
	if d.Elapsed < 0 {
		w.t.Errorf("took %v", d.Elapsed)
	}
	d.Elapsed = 0
	w.observed = append(w.observed, d)
}

const tabs = `"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs"]}]},`

func decode[T any](t *testing.T, name, spec string) *T {
	t.Helper()
	out := new(T)
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"`+name+`"},"spec":{`+spec+`}}`), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// validate asks policies by name, each with a binding of its name; specs follow
// the constraints and the policy's name.
func (w *world) validate(r admission.Attributes, policies, bindings map[string]string) error {
	w.t.Helper()
	var all []*Validation
	for name, spec := range policies {
		if spec[0] != '!' {
			spec = "!" + tabs + spec
		}
		all = append(all, NewValidation(decode[admissionv1.ValidatingAdmissionPolicy](w.t, name, spec[1:])))
	}
	var bound []*Binding
	for name, spec := range bindings {
		bound = append(bound, Validating(decode[admissionv1.ValidatingAdmissionPolicyBinding](w.t, name, spec)))
	}
	return w.dispatcher().Validate(w.t.Context(), NewSet(all, bound, nil, UnreadableValidation).About(r), r)
}

const deny = `"validationActions":["Deny"],`

// one asks one policy with one binding, which denies.
func (w *world) one(policy, binding string) error {
	w.t.Helper()
	return w.validate(w.request(), map[string]string{"p": policy}, map[string]string{"b": deny + `"policyName":"p"` + binding})
}

// about is a request for a resource.
func about(gr schema.GroupResource) admission.Resource {
	return &admissiontest.Attributes{Resource: gr.WithVersion("v1")}
}
