package accessreview

import (
	"context"
	"errors"
	"reflect"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// known knows one token, and may asks what is allowed.
type known struct{}

func (known) Authenticate(_ context.Context, r authn.Request) (*authn.User, bool, error) {
	switch r.BearerToken {
	case "good", "second":
		r.Annotate("token", "good")
		if r.BearerToken == "good" && r.ForOthers() && r.Audiences[0] != "vault" || r.BearerToken == "second" && r.Audiences[0] != "api2" {
			return nil, false, errors.New("it is for another audience")
		}
		return &authn.User{Name: "ann", UID: "7", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}}}, true, nil
	case "broken":
		return nil, false, errors.New("no such token")
	}
	return nil, false, nil
}

// notes are annotations that were made.
type notes map[string]string

func (n notes) Annotate(key, value string) { n[key] = value }

func (notes) Warn(string) {}

type may func(a authz.Attributes) (bool, string, error)

func (f may) Authorize(_ context.Context, a authz.Attributes) (bool, string, error) { return f(a) }

// Rules implements [authz.Lister].
func (f may) Rules(user *authn.User, namespace string) ([]rbacv1.PolicyRule, error) {
	return []rbacv1.PolicyRule{
		{Verbs: []string{"get"}, APIGroups: []string{"apps"}, Resources: []string{namespace}, ResourceNames: []string{user.Name}},
		{Verbs: []string{"get"}, NonResourceURLs: []string{"/api"}},
	}, errors.New("one is missing")
}

func TestReviews(t *testing.T) {
	authorizer := may(func(a authz.Attributes) (bool, string, error) {
		switch {
		case a.Verb == "fail":
			return false, "", errors.New("cannot tell")
		case a.Verb == "list":
			f, l := a.Selectors.Fields, a.Selectors.Labels
			return len(f) == 1 && f[0].Field == "spec.nodeName" && f[0].Value == "n" && len(l) == 1 && l[0].String() == "a in (b)", "narrow", nil
		case a.ResourceRequest:
			want := authz.Attributes{User: a.User, Verb: "get", Group: "apps", Version: "v1", Resource: "deployments", Subresource: "scale", Namespace: "ns", Name: "nn", ResourceRequest: true}
			return reflect.DeepEqual(a, want) && a.User.In("g"), "because", nil
		}
		return a.Path == "/healthz" && a.Verb == "get", "", nil
	})
	all := Answers{Authenticator: known{}, Audiences: []string{"api", "api2"}, Decider: authorizer}.All()
	ann, _, _ := known{}.Authenticate(context.Background(), authn.Request{BearerToken: "good"})
	const resource = `resourceAttributes: {verb: get, group: apps, version: v1, resource: deployments, subresource: scale, namespace: ns, name: nn}`
	said := notes{}
	for _, tc := range []struct{ group, plural, spec, want string }{
		{"authentication", "selfsubjectreviews", "", "{userInfo: {username: ann, uid: '7', groups: [g], extra: {k: [v]}}}"},
		{"authentication", "tokenreviews", "token: good", "{authenticated: true, audiences: [api, api2], user: {username: ann, uid: '7', groups: [g], extra: {k: [v]}}}"},
		{"authentication", "tokenreviews", "token: second", "{authenticated: true, audiences: [api2], user: {username: ann, uid: '7', groups: [g], extra: {k: [v]}}}"},
		{"authentication", "tokenreviews", "token: second\naudiences: [api]", "{user: {}, error: it is for another audience}"},
		{"authentication", "tokenreviews", "token: good\naudiences: [api, vault, api]", "{authenticated: true, audiences: [api, vault], user: {username: ann, uid: '7', groups: [g], extra: {k: [v]}}}"},
		{"authentication", "tokenreviews", "token: good\naudiences: [vault, elsewhere]", "{authenticated: true, audiences: [vault], user: {username: ann, uid: '7', groups: [g], extra: {k: [v]}}}"},
		{"authentication", "tokenreviews", "token: good\naudiences: [elsewhere]", "{user: {}, error: it is for another audience}"},
		{"authentication", "tokenreviews", "token: other", "{error: invalid bearer token, user: {}}"},
		{"authentication", "tokenreviews", "token: broken", "{user: {}, error: no such token}"},
		{"authorization", "selfsubjectaccessreviews", resource, "{allowed: true, reason: because}"},
		{"authorization", "selfsubjectaccessreviews", "nonResourceAttributes: {verb: get, path: /healthz}", "{allowed: true}"},
		{"authorization", "selfsubjectaccessreviews", "nonResourceAttributes: {verb: put, path: /healthz}", "{allowed: false}"},
		{"authorization", "subjectaccessreviews", "user: bob\n" + resource, "{allowed: false, reason: because}"},
		{"authorization", "subjectaccessreviews", "user: bob\nuid: u\nextra: {k: [v]}\ngroups: [g]\n" + resource, "{allowed: true, reason: because}"},
		{"authorization", "localsubjectaccessreviews", "groups: [g]\n" + resource, "{allowed: true, reason: because}"},
		{"authorization", "subjectaccessreviews", "user: bob\nresourceAttributes: {verb: fail}", "{allowed: false, evaluationError: cannot tell}"},
		{"authorization", "subjectaccessreviews", "user: bob\nresourceAttributes: {verb: list, resource: pods, fieldSelector: {rawSelector: spec.nodeName=n}, labelSelector: {requirements: [{key: a, operator: In, values: [b]}]}}", "{allowed: true, reason: narrow}"},
		{"authorization", "subjectaccessreviews", "user: bob\nresourceAttributes: {verb: list, resource: pods}", "{allowed: false, reason: narrow}"},
		{"authorization", "selfsubjectrulesreviews", "namespace: ns", "{incomplete: false, evaluationError: one is missing, resourceRules: [{verbs: [get], apiGroups: [apps], resources: [ns], resourceNames: [ann]}], nonResourceRules: [{verbs: [get], nonResourceURLs: [/api]}]}"},
	} {
		review := map[string]any{"spec": tree(t, tc.spec)}
		if err := all[schema.GroupResource{Group: tc.group + ".k8s.io", Resource: tc.plural}](t.Context(), ann, said, review); err != nil {
			t.Fatal(err)
		}
		if got, want := plain(t, review["status"]), plain(t, tree(t, tc.want)); got != want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", tc.plural, tc.spec, got, want)
		}
	}
	if said["token"] != "good" {
		t.Errorf("said of a token is %v", said)
	}
	rules := schema.GroupResource{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}
	if err := all[rules](t.Context(), ann, said, map[string]any{}); err == nil || err.Error() != "no namespace on request" {
		t.Errorf("the rules of no namespace: %v", err)
	}
	if err := all[schema.GroupResource{Group: "authentication.k8s.io", Resource: "tokenreviews"}](t.Context(), ann, said, map[string]any{"spec": map[string]any{"token": int64(1)}}); err == nil {
		t.Error("a token that is a number")
	}
}

func tree(t *testing.T, text string) map[string]any {
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func plain(t *testing.T, v any) string {
	data, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
