package plugin

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
)

// asked is a request for an object of a resource of the core group.
func asked(t *testing.T, resource string, o admission.Operation, body string) *admissiontest.Attributes {
	t.Helper()
	return &admissiontest.Attributes{
		Objects:   &admissiontest.Objects{After: admissiontest.Tree(t, body)},
		Operation: o, Resource: schema.GroupVersionResource{Version: "v1", Resource: resource}, Name: "x", Namespace: "n",
		Namespaces: admissiontest.Namespaces{"n": labels.Set{}},
	}
}

// Pods get the tolerations that they lack, each by itself, and what is no pod gets none.
func TestTolerationsOfNodesThatNobodyHearsOf(t *testing.T) {
	const ready, reachable = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
	for tolerations, want := range map[string]string{
		`[]`: ready + " " + reachable, `[{"operator":"Exists"}]`: "", `[{"operator":"Exists","effect":"NoSchedule"}]`: ready + " " + reachable,
		`[{"key":"` + ready + `","effect":"NoExecute"}]`: reachable, `[{"key":"` + reachable + `"}]`: ready, `[{"key":"other"}]`: ready + " " + reachable,
		`[{"key":"` + ready + `","effect":"NoSchedule"},{"key":"` + reachable + `","effect":"NoExecute"}]`: ready,
	} {
		a := asked(t, "pods", admission.Create, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"tolerations":`+tolerations+`}}`)
		before := len(a.After["spec"].(map[string]any)["tolerations"].([]any))
		changed, err := DefaultTolerationSeconds{NotReady: 300, Unreachable: 200}.Edit(t.Context(), a, a.After)
		got := ""
		for i, one := range a.After["spec"].(map[string]any)["tolerations"].([]any)[before:] {
			m := one.(map[string]any)
			if i > 0 {
				got += " "
			}
			got += fmt.Sprint(m["key"])
			if m["operator"] != "Exists" || m["effect"] != "NoExecute" || m["tolerationSeconds"] != map[any]int64{ready: 300, reachable: 200}[m["key"]] {
				t.Errorf("%s: %v", tolerations, m)
			}
		}
		if err != nil || changed != (want != "") || got != want {
			t.Errorf("%s: changed %t, got %q, %v", tolerations, changed, got, err)
		}
	}
	a := asked(t, "pods", admission.Create, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}`)
	if changed, err := (DefaultTolerationSeconds{}).Edit(t.Context(), a, a.After); changed || err != nil || a.After["spec"] != nil {
		t.Errorf("a pod without a spec: %t, %v, %v", changed, err, a.After)
	}
	for what, c := range map[string]struct {
		gr          schema.GroupResource
		subresource string
		want        bool
	}{"pods": {pods, "", true}, "their status": {pods, "status", false}, "others": {schema.GroupResource{Resource: "secrets"}, "", false}} {
		if got := (DefaultTolerationSeconds{}).Edits(admission.Update, c.gr, c.subresource); got != c.want {
			t.Errorf("%s are edited: %t", what, got)
		}
	}
}

// going are namespaces that are being deleted.
type going struct{ *admissiontest.Attributes }

func (going) IsNamespaceTerminating(context.Context, string) (bool, error) { return true, nil }

// Nothing is created in a namespace that is being deleted, or that is not there; other
// writes, and questions about one, are let be.
func TestCreationsInNamespaces(t *testing.T) {
	const body = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`
	lifecycle := NamespaceLifecycle{}
	err := lifecycle.Mutate(t.Context(), going{asked(t, "secrets", admission.Create, body)})
	if want := `secrets "x" is forbidden: unable to create new content in namespace n because it is being terminated`; err == nil || err.Error() != want || !apierrors.HasStatusCause(err, "NamespaceTerminating") {
		t.Errorf("%v", err)
	}
	for what, a := range map[string]*admissiontest.Attributes{
		"an update": asked(t, "secrets", admission.Update, body), "a deletion": asked(t, "secrets", admission.Delete, body), "the namespace": asked(t, "namespaces", admission.Create, body),
	} {
		if err := lifecycle.Mutate(t.Context(), going{a}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	question := asked(t, "localsubjectaccessreviews", admission.Create, body)
	question.Resource.Group = "authorization.k8s.io"
	if err := lifecycle.Mutate(t.Context(), going{question}); err != nil {
		t.Errorf("a question: %v", err)
	}
	for namespace, want := range map[string]string{"n": "", "": "", "none": `namespaces "none" not found`, "broken": "no store"} {
		a := asked(t, "secrets", admission.Create, body)
		a.Namespace = namespace
		if err := lifecycle.Mutate(t.Context(), a); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("in %q: %v", namespace, err)
		}
	}
}

// creator creates, or fails.
type creator struct {
	err     error
	created *[]string
}

func (c creator) Create(_ context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	*c.created = append(*c.created, gr.Resource+" "+obj.GetName())
	return obj, c.err
}

// A namespace that is not there is made, unless nothing is going to be stored.
func TestNamespacesAreMade(t *testing.T) {
	conflict := apierrors.NewAlreadyExists(namespaces, "none")
	for _, c := range []struct {
		namespace string
		dryRun    bool
		fails     error
		made      int
		want      string
	}{
		{"none", false, nil, 1, ""}, {"none", true, nil, 0, ""}, {"n", false, nil, 0, ""}, {"", false, nil, 0, ""}, {"broken", false, nil, 0, "no store"},
		{"none", false, conflict, 1, ""}, {"none", false, errors.New("full"), 1, `secrets "x" is forbidden: full`},
	} {
		a := asked(t, "secrets", admission.Create, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`)
		a.Namespace, a.DryRun = c.namespace, c.dryRun
		var created []string
		err := NamespaceAutoProvision{creator{c.fails, &created}}.Mutate(t.Context(), a)
		if len(created) != c.made || (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %v, %v", c, created, err)
		}
		if c.made > 0 && created[0] != "namespaces "+c.namespace {
			t.Errorf("made is %v", created)
		}
	}
}

// namespacesAway are namespaces that cannot be read, or not recently.
type namespacesAway struct {
	Reader
	fresh error
}

func (n namespacesAway) Fresh(context.Context) error { return n.fresh }

func (n namespacesAway) Get(context.Context, schema.GroupResource, string, string) (*unstructured.Unstructured, error) {
	if n.fresh != nil {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"labels": map[string]any{adminLabel: "true"}}}}, nil
	}
	return nil, apierrors.NewInternalError(errors.New("the store is away"))
}

// Where it is not known whether a namespace has the label, now, nobody gets admin access.
func TestAdminAccessTakesALabelThatIsKnown(t *testing.T) {
	for what, namespaces := range map[string]namespacesAway{"not read": {}, "read, but perhaps some time ago": {fresh: errors.New("the store is away")}} {
		a := asked(t, "", admission.Create, `{"metadata":{"name":"x"},"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"x","adminAccess":true}}]}}}`)
		a.Resource = claims.WithVersion("v1")
		if err := (DeviceAdmin{namespaces}).Mutate(t.Context(), a); err == nil {
			t.Errorf("%s: admin access is given", what)
		}
	}
}
