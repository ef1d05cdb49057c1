package podsecurity_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/admission/plugin/podsecurity"
)

// What it decides is compared with kube-apiserver's in test/story/standards. Here is
// what no recording has: its configuration, and what odd requests cost.

type who struct{ *user.DefaultInfo }

func (w who) Info() authenticationv1.UserInfo { return authenticationv1.UserInfo{Username: w.Name} }

// present are the pods that there are.
type present struct {
	plugin.Reader
	pods []*unstructured.Unstructured
}

func (p present) List(context.Context, schema.GroupResource, string) ([]*unstructured.Unstructured, error) {
	return p.pods, nil
}

const configured = `{"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration","defaults":{"enforce":"baseline"},"exemptions":{"usernames":["root"],"namespaces":["system"],"runtimeClasses":["vm"]}}`

func made(t *testing.T, configuration string, release [2]int, pods ...*unstructured.Unstructured) *podsecurity.PodSecurity {
	t.Helper()
	p, err := podsecurity.New([]byte(configuration), release, present{pods: pods})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// request is the creation of a pod in a namespace, or its change from old.
func request(t *testing.T, pod, old string) *admissiontest.Attributes {
	t.Helper()
	states := &admissiontest.Objects{After: admissiontest.Tree(t, pod)}
	if old != "" {
		states.Before = admissiontest.Tree(t, old)
	}
	a := &admissiontest.Attributes{
		Objects: states, Operation: admission.Create, Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"},
		Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Namespace: "n", Name: "p", User: who{&user.DefaultInfo{Name: "somebody"}},
		Namespaces: admissiontest.Namespaces{"n": nil, "system": nil}, Warned: &[]string{}, Annotated: map[string]string{},
	}
	if old != "" {
		a.Operation = admission.Update
	}
	return a
}

const hostile = `{"metadata":{"name":"p"},"spec":{"hostPID":true,"containers":[{"name":"c","image":"i"}]}}`

func TestConfiguration(t *testing.T) {
	p := made(t, configured, [2]int{1, 36})
	for name, c := range map[string]struct {
		change  func(*admissiontest.Attributes)
		refused bool
	}{
		"somebody":          {func(*admissiontest.Attributes) {}, true},
		"an exempt user":    {func(a *admissiontest.Attributes) { a.User = who{&user.DefaultInfo{Name: "root"}} }, false},
		"exempt namespaces": {func(a *admissiontest.Attributes) { a.Namespace = "system" }, false},
		// Where nobody knows what a namespace takes, it takes nothing.
		"a namespace that cannot be read": {func(a *admissiontest.Attributes) { a.Namespace = "broken" }, true},
		"a status":                        {func(a *admissiontest.Attributes) { a.Subresource = "status" }, false},
		"another resource":                {func(a *admissiontest.Attributes) { a.Resource.Resource = "configmaps" }, false},
		"a deletion":                      {func(a *admissiontest.Attributes) { a.Operation = admission.Delete }, false},
		"a connection":                    {func(a *admissiontest.Attributes) { a.Operation = admission.Connect }, false},
		"a binding":                       {func(a *admissiontest.Attributes) { a.Subresource = "binding" }, false},
		"a namespace that says otherwise": {func(a *admissiontest.Attributes) {
			a.Namespaces["n"] = map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}
		}, false},
	} {
		a := request(t, hostile, "")
		c.change(a)
		if err := p.Validate(t.Context(), a); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := made(t, "", [2]int{1, 36}).Validate(t.Context(), request(t, hostile, "")); err != nil {
		t.Errorf("a namespace without labels: %v", err)
	}
	for _, wrong := range []string{"{", `{"apiVersion":"v1","kind":"Pod"}`, strings.Replace(configured, "baseline", "odd", 1), strings.Replace(configured, "defaults", "default", 1)} {
		if _, err := podsecurity.New([]byte(wrong), [2]int{1, 36}, present{}); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

// TestLatestIsTheReleaseThatIsEmulated has a pod that the levels allowed only later.
func TestLatestIsTheReleaseThatIsEmulated(t *testing.T) {
	const pod = `{"metadata":{"name":"p"},"spec":{"securityContext":{"sysctls":[{"name":"net.ipv4.tcp_rmem","value":"1"}]},"containers":[{"name":"c","image":"i"}]}}`
	for release, refused := range map[[2]int]bool{{1, 31}: true, {1, 36}: false} {
		if err := made(t, configured, release).Validate(t.Context(), request(t, pod, "")); (err != nil) != refused {
			t.Errorf("%v: %v", release, err)
		}
	}
}

func TestChangesOfImagesAreJudged(t *testing.T) {
	p := made(t, configured, [2]int{1, 36})
	if err := p.Validate(t.Context(), request(t, hostile, hostile)); err != nil {
		t.Errorf("nothing changed: %v", err)
	}
	if err := p.Validate(t.Context(), request(t, strings.Replace(hostile, `"i"`, `"j"`, 1), hostile)); err == nil {
		t.Error("another image is not judged")
	}
	many := `"ephemeralContainers":[` + strings.Repeat(`{"name":"e","image":"i"},`, 2000) + `{"name":"e","image":"i"}],"containers"`
	if err := p.Validate(t.Context(), request(t, strings.Replace(hostile, `"containers"`, many, 1), hostile)); err == nil || !strings.Contains(err.Error(), "more than 2000") {
		t.Errorf("too many containers: %v", err)
	}
	if err := p.Validate(t.Context(), request(t, `{"metadata":{"name":"p"},"spec":{"containers":3}}`, "")); err == nil {
		t.Error("what is no pod is taken")
	}
}

// TestPodsThatAreThereAreCounted has a namespace ask for more than its pods have, and
// too little time to look at them.
func TestPodsThatAreThereAreCounted(t *testing.T) {
	var pods []*unstructured.Unstructured
	for i := range 20 {
		pods = append(pods, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": fmt.Sprint("p", i)}, "spec": map[string]any{"hostPID": true}}})
	}
	p := made(t, "", [2]int{1, 36}, pods...)
	ask := func(ctx context.Context) []string {
		a := request(t, `{"metadata":{"name":"n","labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`, `{"metadata":{"name":"n"}}`)
		a.Resource.Resource, a.Kind.Kind, a.Name = "namespaces", "Namespace", "n"
		if err := p.Validate(ctx, a); err != nil {
			t.Fatal(err)
		}
		return *a.Warned
	}
	if got := ask(t.Context()); len(got) != 2 || got[1] != "p0 (and 19 other pods): host namespaces" {
		t.Errorf("%q", got)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if got := ask(over); len(got) == 0 || !strings.Contains(got[0], "of 20 existing pods") {
		t.Errorf("without time: %q", got)
	}
}
