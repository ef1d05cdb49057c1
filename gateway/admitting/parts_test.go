package admitting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
)

// about is a request about a resource, of the gateway itself or not.
type about struct {
	admission.Attributes
	schema.GroupVersionResource
	sub string
	own bool
}

func (a about) GetResource() schema.GroupVersionResource { return a.GroupVersionResource }
func (a about) GetSubresource() string                   { return a.sub }
func (a about) IsOwn() bool                              { return a.own }

// names are policies or webhooks that match everything.
type names []string

func (n names) About(admission.Resource) []string { return n }

// Who guards from a folder is asked before who is configured by the API, who has no say in
// configurations; what the gateway finds out of a module nobody judges.
func TestGuardsComeFirst(t *testing.T) {
	pods, policies, modules := schema.GroupVersionResource{Version: "v1", Resource: "pods"}, schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
		schema.GroupVersionResource{Group: "wasmgate.dev", Version: "v1", Resource: "wasmmodules"}
	for i, c := range []struct {
		about
		fixed, others names
		want          string
	}{
		{about{GroupVersionResource: pods}, names{"a", "b"}, names{"c"}, "a b c"}, {about{GroupVersionResource: pods}, nil, names{"c"}, "c"}, {about{GroupVersionResource: pods}, names{"a"}, nil, "a"},
		{about{GroupVersionResource: pods}, nil, nil, ""}, {about{GroupVersionResource: policies}, names{"a"}, names{"c"}, "a"},
		{about{GroupVersionResource: modules, sub: "status", own: true}, names{"a"}, names{"c"}, ""}, {about{GroupVersionResource: modules, sub: "status"}, names{"a"}, names{"c"}, "a c"},
		{about{GroupVersionResource: modules, own: true}, names{"a"}, names{"c"}, "a c"}, {about{GroupVersionResource: pods, sub: "status", own: true}, names{"a"}, names{"c"}, "a c"},
	} {
		if got := strings.Join(both[string](c.fixed, c.about, isPolicy(c.about), func() []string { return c.others }), " "); got != c.want {
			t.Errorf("%d: %q are asked, want %q", i, got, c.want)
		}
	}
	s := &guards.State{}
	for _, name := range []string{"good", "bad"} {
		s.Objects = append(s.Objects, guards.Object{Unstructured: &unstructured.Unstructured{Object: map[string]any{"kind": "P", "metadata": map[string]any{"name": name}}}})
	}
	s.Objects = append(s.Objects, guards.Object{Parameter: true, Unstructured: &unstructured.Unstructured{Object: map[string]any{"kind": "P"}}})
	all := compiledOf(s, "P", how[string, []string]{
		compile: func(data []byte) (string, error) {
			if strings.Contains(string(data), "bad") {
				return "half", errors.New("it is bad")
			}
			return "made", nil
		},
		refuse: func(name string, cause error) string { return name + ": " + cause.Error() },
	})
	if !slices.Equal(all, []string{"made", "bad: it is bad"}) {
		t.Errorf("%q", all)
	}
}

// Parameters are found as soon as they were written, at the version that is asked for,
// and there are none of kinds that are not served.
func TestParametersThatAreServed(t *testing.T) {
	w := newWorld(t)
	p := params{w.Catalog()}
	config, none := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, schema.GroupVersionKind{Group: "none.example.com", Version: "v1", Kind: "None"}
	namespace := schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	for kind, want := range map[schema.GroupVersionKind]string{config: "true true", namespace: "false true", none: "false false", {Version: "v7", Kind: "ConfigMap"}: "false false"} {
		namespaced, served := p.Namespaced(kind)
		if got := fmt.Sprint(namespaced, " ", served); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	for _, name := range []string{"one", "two"} {
		w.create("", "configmaps", "", `{"metadata":{"name":"`+name+`","labels":{"n":"`+name+`"}}}`)
		if o, err := p.Get(t.Context(), config, "default", name); err != nil || o == nil || o.GetName() != name || o.GetManagedFields() != nil {
			t.Errorf("%v, %v", o, err)
		}
	}
	for _, c := range []struct {
		kind            schema.GroupVersionKind
		namespace, name string
	}{{config, "default", "three"}, {config, "other", "one"}, {none, "default", "one"}} {
		if o, err := p.Get(t.Context(), c.kind, c.namespace, c.name); o != nil || err != nil {
			t.Errorf("%+v: %v, %v", c, o, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := p.Get(ended, config, "default", "three"); err == nil {
		t.Error("what may not be known yet is not there")
	}
	for _, c := range []struct {
		kind      schema.GroupVersionKind
		namespace string
		labels.Set
		want int
	}{{config, "default", nil, 2}, {config, "", nil, 2}, {config, "other", nil, 0}, {config, "default", labels.Set{"n": "two"}, 1}, {config, "default", labels.Set{"n": "x"}, 0}, {none, "", nil, 0}} {
		if all, err := p.Select(t.Context(), c.kind, c.namespace, labels.SelectorFromSet(c.Set)); len(all) != c.want || err != nil {
			t.Errorf("%+v: %d, %v", c, len(all), err)
		}
	}
}

// A webhook is a module, a server by its URL, or a service; what is none of them is refused.
func TestConnections(t *testing.T) {
	url, far, path, port := "wasm://m", "https://a.example/x", "/p", int32(443)
	for want, config := range map[string]admissionv1.WebhookClientConfig{
		"admitting.module": {URL: &url}, "admitting.server": {URL: &far}, "admitting.server ": {Service: &admissionv1.ServiceReference{Namespace: "ns", Name: "n", Path: &path, Port: &port}}, "<nil>": {},
	} {
		caller, err := connector{}.connect(config)
		if got := fmt.Sprintf("%T", caller); got != strings.TrimSpace(want) || (err != nil) != (want == "<nil>") {
			t.Errorf("%+v: %s, %v", config, got, err)
		}
	}
}
