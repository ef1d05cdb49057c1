package policy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// rights are what users may do: "USER VERB GROUP/VERSION RESOURCE NAMESPACE NAME".
type rights []string

func (r rights) Authorize(_ context.Context, a authz.Attributes) (bool, string, error) {
	if a.User.Name == "broken" {
		return false, "", errors.New("nobody answers")
	}
	asked := strings.Join([]string{a.User.Name, a.Verb, a.Group + "/" + a.Version, a.Resource, a.Namespace, a.Name}, " ")
	return a.ResourceRequest && slices.Contains(r, asked), "", nil
}

type authors struct {
	*realengine.Engine
	t *testing.T
}

// newAuthors is an engine with the plugin as it is in the order of all.
func newAuthors(t *testing.T, may ...string) authors {
	return authors{realengine.With(t, func(e *engine.Engine) admission.Chain {
		p := Parameters{May: rights(may), Policies: local.New(e, resource.Component("admission")), Served: func() []*crd.Definition { return e.Catalog().Snapshot().Definitions }}
		chain, err := admission.NewChain(func(name string) bool { return order.DefaultOf(name) == order.Always }, p)
		if err != nil {
			t.Fatal(err)
		}
		return chain
	}), t}
}

func (w authors) target(gr schema.GroupResource, name string) resource.Target {
	r := w.Catalog.Snapshot().Resource(gr)
	return resource.Target{Resource: r, Version: r.Def.Version("v1"), Name: name}
}

func by(user string) resource.WriteOptions {
	caller := &authn.User{Name: user, Groups: []string{"system:authenticated"}}
	if user == "root" {
		caller.Groups = append(caller.Groups, authn.Masters)
	}
	return resource.WriteOptions{Caller: resource.Caller{User: caller}}
}

// create has a user write "KIND NAME" with a spec.
func (w authors) create(user string, gr schema.GroupResource, name, spec string) error {
	w.t.Helper()
	kind := w.Catalog.Snapshot().Resource(gr).Def.Kind
	body := `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"` + kind + `","metadata":{"name":"` + name + `"},"spec":{` + spec + `}}`
	_, err := w.Verbs.Create(w.t.Context(), w.target(gr, ""), []byte(body), by(user))
	return err
}

func (w authors) patch(user string, gr schema.GroupResource, name, change string) error {
	_, err := w.Verbs.Patch(w.t.Context(), w.target(gr, name), types.MergePatchType, []byte(change), by(user))
	return err
}

// told checks the refusal of a field: the text is kube-apiserver 1.36.3's. "" is none.
func told(t *testing.T, what string, err error, text string) {
	t.Helper()
	if text == "" && err != nil || text != "" && (!apierrors.IsInvalid(err) || !strings.HasSuffix(err.Error(), " is invalid: "+text)) {
		t.Errorf("%s:\n%v\nwant %s", what, err, text)
	}
}

const match = `,"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"]}]}`

// both are the two sorts of policies, with what else their specs need.
var both = []struct {
	policies, bindings schema.GroupResource
	rules, actions     string
}{
	{gvr.ValidatingPolicies, gvr.ValidatingPolicyBindings, match + `,"validations":[{"expression":"true"}]`, `,"validationActions":["Deny"]`},
	{gvr.MutatingPolicies, gvr.MutatingPolicyBindings, match + `,"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/spec/x'}]"}}]`, ``},
}

const (
	noPolicy  = `spec.paramKind: Forbidden: user &{bob  [system:authenticated] map[]} must have "get" permission on all objects of the referenced paramKind `
	noObject  = `spec.paramRef: Forbidden: user &{bob  [system:authenticated] map[]} does not have "get" permission on the object referenced by paramRef`
	noneOfAll = ` to determine minimum required permissions and user &{bob  [system:authenticated] map[]} does not have "get" permission for all groups, versions and resources`
)

// A policy names parameters of a kind that its author may read all of.
func TestParameters_OfPolicies(t *testing.T) {
	for _, k := range both {
		w := newAuthors(t, "bob get /v1 configmaps * *", "carol get x.io/v1 * * *", "bob list /v1 secrets * *", "bob get /v1 secrets default *")
		const secrets, configMaps, nothings = `"paramKind":{"apiVersion":"v1","kind":"Secret"}`, `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}`, `"paramKind":{"apiVersion":"x.io/v1","kind":"Nothing"}`
		told(t, "what bob may not read", w.create("bob", k.policies, "a", secrets+k.rules), noPolicy+"(kind=Secret, apiVersion=v1)")
		told(t, "what bob may read", w.create("bob", k.policies, "b", configMaps+k.rules), "")
		told(t, "nothing", w.create("bob", k.policies, "c", strings.TrimPrefix(k.rules, ",")), "")
		told(t, "what there is not", w.create("bob", k.policies, "d", nothings+k.rules), noPolicy+"(kind=Nothing, apiVersion=x.io/v1)")
		told(t, "whatever there will be", w.create("carol", k.policies, "d", nothings+k.rules), "")
		told(t, "an administrator", w.create("root", k.policies, "a", secrets+k.rules), "")
		told(t, "nobody knows", w.create("broken", k.policies, "e", secrets+k.rules), "spec.paramKind: Forbidden: nobody answers")
		if err := w.create("bob", k.policies, "f", secrets+match); err == nil || strings.Contains(err.Error(), "paramKind") {
			t.Errorf("what is not valid anyway: %v", err)
		}
		told(t, "a label", w.patch("bob", k.policies, "a", `{"metadata":{"labels":{"a":"b"}}}`), "")
		told(t, "no parameters any more", w.patch("bob", k.policies, "a", `{"spec":{"paramKind":null}}`), "")
		told(t, "other parameters", w.patch("bob", k.policies, "b", `{"spec":{"paramKind":{"kind":"Secret"}}}`), noPolicy+"(kind=Secret, apiVersion=v1)")
		told(t, "parameters", w.patch("bob", k.policies, "c", `{"spec":{`+secrets+`}}`), noPolicy+"(kind=Secret, apiVersion=v1)")
	}
}

// A binding names parameters that its author may read.
func TestParameters_OfBindings(t *testing.T) {
	for _, k := range both {
		w := newAuthors(t, "bob get /v1 secrets default mine", "carol list /v1 secrets  ", "dora get */* * default s", "dora get x.io/v1 * default s")
		for name, kind := range map[string]string{"p": `"paramKind":{"apiVersion":"v1","kind":"Secret"}`, "nothings": `"paramKind":{"apiVersion":"x.io/v1","kind":"Nothing"}`} {
			told(t, name, w.create("root", k.policies, name, kind+k.rules), "")
		}
		told(t, "without", w.create("root", k.policies, "without", strings.TrimPrefix(k.rules, ",")), "")
		spec := func(policy, ref string) string {
			return `"policyName":"` + policy + `","paramRef":{` + ref + `,"parameterNotFoundAction":"Deny"}` + k.actions
		}
		const mine, s = `"name":"mine","namespace":"default"`, `"name":"s","namespace":"default"`
		told(t, "what bob may read", w.create("bob", k.bindings, "mine", spec("p", mine)), "")
		told(t, "what bob may not read", w.create("bob", k.bindings, "s", spec("p", s)), noObject)
		told(t, "in each namespace", w.create("bob", k.bindings, "s", spec("p", `"name":"mine"`)), noObject)
		told(t, "some", w.create("bob", k.bindings, "s", spec("p", `"selector":{}`)), strings.Replace(noObject, "get", "list", 1))
		told(t, "some that carol may list", w.create("carol", k.bindings, "some", spec("p", `"selector":{}`)), "")
		told(t, "of no policy", w.create("bob", k.bindings, "s", spec("missing", s)), "spec.paramRef: Forbidden: unable to get policy missing"+noneOfAll)
		told(t, "of no kind", w.create("bob", k.bindings, "s", spec("nothings", s)), "spec.paramRef: Forbidden: unable to resolve paramKind &{x.io/v1 Nothing}"+noneOfAll)
		told(t, "of a policy without", w.create("bob", k.bindings, "s", spec("without", s)), noObject)
		told(t, "of no policy, by who may read all", w.create("dora", k.bindings, "s", spec("missing", s)), "")
		told(t, "of no kind, by who may read all of its group", w.create("dora", k.bindings, "t", spec("nothings", s)), "")
		told(t, "nothing", w.create("bob", k.bindings, "u", `"policyName":"p"`+k.actions), "")
		told(t, "an administrator", w.create("root", k.bindings, "root", spec("p", s)), "")
		told(t, "nobody knows", w.create("broken", k.bindings, "v", spec("p", s)), "spec.paramRef: Forbidden: failed to authorize request: nobody answers")

		told(t, "a label", w.patch("bob", k.bindings, "root", `{"metadata":{"labels":{"a":"b"}}}`), noObject)
		told(t, "a label of bob's", w.patch("bob", k.bindings, "mine", `{"metadata":{"labels":{"a":"b"}}}`), "")
		told(t, "another name", w.patch("bob", k.bindings, "mine", `{"spec":{"paramRef":{"name":"s"}}}`), noObject)
		told(t, "another policy", w.patch("bob", k.bindings, "mine", `{"spec":{"policyName":"without"}}`), noObject)
		told(t, "no parameters any more", w.patch("bob", k.bindings, "root", `{"spec":{"paramRef":null}}`), "")
		if err := w.Delete(t.Context(), k.bindings, "", "mine", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
}
