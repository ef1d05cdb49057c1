package admitting

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// may answers by the verb.
type may struct{}

func (may) Authorize(_ context.Context, a authz.Attributes) (bool, string, error) {
	switch a.Verb {
	case "fail":
		return false, "", errors.New("cannot tell")
	case "get", "list", "post":
		return true, "because", nil
	}
	return false, "never", nil
}

// What an expression asks is what the authorizer is asked, in every part.
func TestExpressionsAskTheAuthorizer_CEL12_CEL13_CEL14(t *testing.T) {
	w := newWorld(t)
	w.may = may{}
	user := &authn.User{Name: "alice", UID: "7", Groups: []string{"g", "h"}, Extra: map[string][]string{"k": {"v"}}}
	alice := resource.WriteOptions{Caller: resource.Caller{User: user}}
	account := &authn.User{Name: "system:serviceaccount:ns:robot", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns"}}
	narrow := authz.ParseSelectors("spec.nodeName=n,metadata.name!=m", "a in (b),!c")
	for e, want := range map[string]struct {
		asked  authz.Attributes
		answer string
	}{
		`authorizer.group('apps').resource('deployments').check('get').allowed()`: {authz.Attributes{User: user, Verb: "get", Group: "apps", Resource: "deployments", ResourceRequest: true}, "true"},
		`authorizer.group('').resource('pods').subresource('log').namespace('ns').name('p').check('get').reason()`: {authz.Attributes{
			User: user, Verb: "get", Resource: "pods", Subresource: "log", Namespace: "ns", Name: "p", ResourceRequest: true,
		}, "because"},
		`authorizer.group('').resource('pods').name('p').namespace('ns').subresource('exec').check('create').reason()`: {authz.Attributes{
			User: user, Verb: "create", Resource: "pods", Subresource: "exec", Namespace: "ns", Name: "p", ResourceRequest: true,
		}, "never"},
		`authorizer.group('').resource('pods').fieldSelector('spec.nodeName=n,metadata.name!=m').labelSelector('a in (b),!c').check('list').allowed()`: {authz.Attributes{
			User: user, Verb: "list", Resource: "pods", ResourceRequest: true, Selectors: narrow,
		}, "true"},
		`authorizer.path('/healthz').check('post').allowed()`: {authz.Attributes{User: user, Verb: "post", Path: "/healthz"}, "true"},
		`authorizer.path('/healthz').check('put').allowed()`:  {authz.Attributes{User: user, Verb: "put", Path: "/healthz"}, "false"},
		`authorizer.serviceAccount('ns', 'robot').group('').resource('secrets').namespace('ns').check('get').allowed()`: {authz.Attributes{
			User: account, Verb: "get", Resource: "secrets", Namespace: "ns", ResourceRequest: true,
		}, "true"},
		`authorizer.requestResource.check('get').allowed()`: {authz.Attributes{
			User: user, Verb: "get", Resource: "configmaps", Namespace: "default", Name: "one", ResourceRequest: true,
		}, "true"},
		`authorizer.group('').resource('pods').check('fail').errored()`: {authz.Attributes{User: user, Verb: "fail", Resource: "pods", ResourceRequest: true}, "true"},
	} {
		if want.asked.ResourceRequest {
			want.asked.Version = "*" // expressions do not say which
		}
		for what, ask := range map[string]func(o resource.WriteOptions, e, want string) string{"a policy": w.judgedBy, "a condition": w.conditioned} {
			w.asked = nil
			if got := ask(alice, e, want.answer); got != want.answer {
				t.Errorf("%s %s: %s, want %s", what, e, got, want.answer)
			}
			if len(w.asked) != 1 || !reflect.DeepEqual(w.asked[0], want.asked) {
				t.Errorf("%s %s: asked %+v\nwant %+v", what, e, w.asked, want.asked)
			}
		}
	}
}

// What cannot be read selects everything, and the authorizer is told so.
func TestSelectorsThatCannotBeRead_CEL14(t *testing.T) {
	w := newWorld(t)
	w.may = may{}
	w.conditioned(alice, `authorizer.group('').resource('pods').fieldSelector('x').labelSelector('=').check('list').allowed()`, "true")
	if len(w.asked) != 1 || w.asked[0].Selectors.FieldsErr == nil || w.asked[0].Selectors.LabelsErr == nil || w.asked[0].Selectors.Fields != nil || w.asked[0].Selectors.Labels != nil {
		t.Errorf("%+v", w.asked)
	}
}

// judgedBy is what a policy makes of a ConfigMap: what is wanted if it denies what
// has that for an answer, and anything else if not.
func (w *world) judgedBy(o resource.WriteOptions, e, want string) string {
	w.t.Helper()
	const group = "admissionregistration.k8s.io"
	w.create(group, "validatingadmissionpolicies", "", `{"metadata":{"name":"p"},"spec":{
		"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]},
		"validations":[{"message":"as wanted","expression":`+strconv.Quote("string("+e+") != '"+want+"'")+`}]}}`)
	w.create(group, "validatingadmissionpolicybindings", "", `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"]}}`)
	w.settled()
	_, err := w.try("", "configmaps", "", `{"metadata":{"name":"one"}}`, dryRunOf(o))
	w.remove(w.target(group, "validatingadmissionpolicies", "", "p"))
	w.remove(w.target(group, "validatingadmissionpolicybindings", "", "b"))
	if err != nil && strings.Contains(err.Error(), "as wanted") {
		return want
	}
	return fmt.Sprint(err)
}

// conditioned is what the condition of a webhook makes of a ConfigMap: what is
// wanted if the webhook is called, and anything else if not.
func (w *world) conditioned(o resource.WriteOptions, e, want string) string {
	w.t.Helper()
	w.configure("validating", "c", "", "v1", "configmaps", `"matchConditions":[{"name":"x","expression":`+strconv.Quote("string("+e+") == '"+want+"'")+`}],`)
	w.sent = nil
	if _, err := w.try("", "configmaps", "", `{"metadata":{"name":"one"}}`, dryRunOf(o)); err != nil {
		return err.Error()
	}
	w.remove(w.target("admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "c"))
	if len(w.sent) == 1 {
		return want
	}
	return "it is not called"
}

func dryRunOf(o resource.WriteOptions) resource.WriteOptions {
	o.DryRun = true
	return o
}

func (w *world) remove(t resource.Target) {
	w.t.Helper()
	if _, err := w.Delete(w.t.Context(), t, &metav1.DeleteOptions{}, alice); err != nil {
		w.t.Fatal(err)
	}
	w.settled()
}
