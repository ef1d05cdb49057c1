package pod

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
)

// world has a namespace with a pod.
func world(t *testing.T) *realengine.Engine {
	t.Helper()
	return judged(t, nil)
}

// judged is a world whose requests a stage of admission judges, if it is not nil.
func judged(t *testing.T, s *stage) *realengine.Engine {
	t.Helper()
	e := realengine.With(t, func(*engine.Engine) (c admission.Chain) {
		if s != nil {
			c.Mutators, c.Validators = []admission.Mutator{s}, []admission.Validator{s}
		}
		return c
	})
	create(t, e, schema.GroupResource{Resource: "namespaces"}, "metadata: {name: ns}")
	create(t, e, kind, "metadata: {name: p, namespace: ns, labels: {app: a}}\nspec: {containers: [{name: c, image: i}]}")
	return e
}

// stage is mutating and validating admission that notes what it is asked about. It
// changes and refuses nothing, unless it is told to.
type stage struct {
	asked          []string
	change, refuse func(w admission.Attributes) error
}

func (s *stage) note(what string, w admission.Attributes) {
	path := w.GetResource().Resource
	if w.GetSubresource() != "" {
		path += "/" + w.GetSubresource()
	}
	s.asked = append(s.asked, fmt.Sprintf("%s %s %s %s", what, w.GetOperation(), path, w.GetKind().Kind))
}

func (s *stage) Mutate(_ context.Context, w admission.Attributes) error {
	s.note("mutating", w)
	if s.change == nil {
		return nil
	}
	return s.change(w)
}

func (s *stage) Validate(_ context.Context, w admission.Attributes) error {
	s.note("validating", w)
	if s.refuse == nil {
		return nil
	}
	return s.refuse(w)
}

// at is a subresource of a pod.
func at(e *realengine.Engine, subresource, name string) resource.Target {
	r := e.Catalog.Snapshot().Resource(kind)
	return resource.Target{Resource: r, Version: r.Def.Version("v1"), Namespace: "ns", Name: name, Subresource: subresource}
}

func create(t *testing.T, e *realengine.Engine, gr schema.GroupResource, text string) {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Create(t.Context(), gr, u); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// ask asks about the pod p, and returns the refusal in words.
func ask(t *testing.T, e *realengine.Engine, subresource, name, body string) string {
	t.Helper()
	return askWith(t, e, subresource, name, body, resource.WriteOptions{Caller: resource.Component("test")})
}

func askWith(t *testing.T, e *realengine.Engine, subresource, name, body string, o resource.WriteOptions) string {
	t.Helper()
	return askAs(t, e, func(c resource.Caller) Objects { return e.Client.As(c) }, subresource, name, body, o)
}

func askAs(t *testing.T, e *realengine.Engine, as As, subresource, name, body string, o resource.WriteOptions) string {
	t.Helper()
	contentType := runtime.ContentTypeJSON
	if strings.HasPrefix(body, string([]byte("k8s\x00"))) {
		contentType = runtime.ContentTypeProtobuf
	}
	if c, ok := Connections(as, e.Verbs)[subresource]; ok {
		_, err := c.Connect(t.Context(), at(e, subresource, name), "", nil, o)
		return err.Error()
	}
	answers := Created(as, e.Verbs)
	answers["log"] = Log(as)
	answer, err := answers[subresource](t.Context(), at(e, subresource, name), contentType, []byte(body), o)
	if err != nil {
		return err.Error()
	}
	if s, ok := answer.(metav1.Status); !ok || s.Code != 201 || s.Status != "Success" {
		t.Errorf("%s: %+v", subresource, answer)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return ""
}

func TestBinding(t *testing.T) {
	e := world(t)
	for body, want := range map[string]string{
		`{"metadata":{"name":"p"},"target":{"kind":"Node"}}`:               "the target of a binding",
		`{"metadata":{"name":"p"},"target":{"kind":"Service","name":"n"}}`: "the target of a binding",
	} {
		if got := ask(t, e, "binding", "p", body); !strings.Contains(got, want) {
			t.Errorf("%s: %s", body, got)
		}
	}
	const body = onNode
	if got := ask(t, e, "log", "p", ""); got != "pod p does not have a host assigned" {
		t.Error(got)
	}
	if got := ask(t, e, "binding", "none", strings.Replace(body, `"p"`, `"none"`, 1)); !strings.Contains(got, "not found") {
		t.Error(got)
	}
	if got := ask(t, e, "binding", "p", body); got != "" {
		t.Error(got)
	}
	u, err := e.Get(t.Context(), kind, "ns", "p")
	if err != nil {
		t.Fatal(err)
	}
	node, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName")
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	if node != "n" || len(conditions) != 1 {
		t.Errorf("%v", u.Object)
	}
	if got := ask(t, e, "binding", "p", body); !strings.Contains(got, `already assigned to node "n"`) {
		t.Error(got)
	}
	for _, name := range []string{"log", "exec", "attach", "portforward"} {
		if got := ask(t, e, name, "p", ""); !strings.Contains(got, errNoKubelet.Error()) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A Binding that is made among the bindings names its pod itself.
func TestBindingsNameTheirPod(t *testing.T) {
	e := world(t)
	r := e.Catalog.Snapshot().Resource(bindings)
	among := resource.Target{Resource: r, Version: r.Def.Version("v1"), Namespace: "ns"}
	bind := Created(func(c resource.Caller) Objects { return e.Client.As(c) }, e.Verbs)["binding"]
	for _, c := range []struct{ meta, want string }{
		{`{}`, "Name parameter required."},
		{`{"generateName":"p"}`, "Name parameter required."},
		{`{"name":"none"}`, `pods "none" not found`},
		{`{"name":"p","namespace":"other"}`, "the namespace of the provided object does not match the namespace sent on the request"},
		{`{"name":"p"}`, ""},
		{`{"name":"p"}`, `already assigned to node "n"`},
	} {
		_, err := bind(t.Context(), among, runtime.ContentTypeJSON, []byte(`{"metadata":`+c.meta+`,"target":{"kind":"Node","name":"n"}}`), resource.WriteOptions{Caller: resource.Component("test")})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.meta, err, c.want)
		}
		if err := e.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if node, _, _ := unstructured.NestedString(look(t, e, kind, "p").Object, "spec", "nodeName"); node != "n" {
		t.Errorf("it is on %q", node)
	}
}

func TestEviction(t *testing.T) {
	e := world(t)
	if got := ask(t, e, "eviction", "p", `{"metadata":{"name":"q"}}`); !strings.Contains(got, "does not match") {
		t.Error(got)
	}
	if got := ask(t, e, "eviction", "p", `{"metadata":{"name":"p"},"deleteOptions":{"dryRun":["All"]}}`); got != "" {
		t.Error(got)
	}
	if _, err := e.Get(t.Context(), kind, "ns", "p"); err != nil {
		t.Errorf("a dry run evicts: %v", err)
	}
	create(t, e, budgets, "metadata: {name: other, namespace: ns}\nspec: {minAvailable: 1, selector: {matchLabels: {app: b}}}")
	create(t, e, budgets, "metadata: {name: b, namespace: ns}\nspec: {minAvailable: 1, selector: {matchLabels: {app: a}}}")
	setStatus(t, e, kind, "p", map[string]any{"phase": "Running"})
	if got := ask(t, e, "eviction", "p", evict("p")); !strings.Contains(got, "violate the pod's disruption budget") {
		t.Error(got)
	}
	u, err := e.Get(t.Context(), budgets, "ns", "b")
	if err != nil {
		t.Fatal(err)
	}
	u.Object["status"] = map[string]any{"observedGeneration": int64(1), "disruptionsAllowed": int64(1), "currentHealthy": int64(2), "desiredHealthy": int64(1), "expectedPods": int64(2)}
	if _, err := e.Update(t.Context(), budgets, "status", u); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, e, "eviction", "p", evict("p")); got != "" {
		t.Error(got)
	}
	if _, err := e.Get(t.Context(), kind, "ns", "p"); !apierrors.IsNotFound(err) {
		t.Errorf("the pod is still there: %v", err)
	}
}

func TestHowSubresourcesAreAsked(t *testing.T) {
	for name, want := range map[string]bool{"exec": false, "attach": false, "portforward": false, "proxy": true} {
		if got := Connections(nil, nil)[name].Passes(); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
