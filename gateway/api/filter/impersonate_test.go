package filter

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Who asks to be somebody else is never served as who they are.
func TestImpersonate(t *testing.T) {
	admin := &authn.User{Name: "admin", Groups: []string{authn.Masters}}
	bob := &authn.User{Name: "bob", Groups: []string{authn.AllAuthenticated}}
	for name, c := range map[string]struct {
		user *authn.User
		as   api.Impersonation
		want *authn.User
		fail string
	}{
		"a user":            {admin, api.Impersonation{User: "carol"}, &authn.User{Name: "carol", Groups: []string{authn.AllAuthenticated}}, ""},
		"with all":          {admin, api.Impersonation{User: "carol", UID: "7", Groups: []string{"dev"}}, &authn.User{Name: "carol", UID: "7", Groups: []string{"dev", authn.AllAuthenticated}}, ""},
		"nobody":            {admin, api.Impersonation{User: authn.Anonymous}, &authn.User{Name: authn.Anonymous, Groups: []string{authn.Unauthenticated}}, ""},
		"only a group":      {admin, api.Impersonation{Groups: []string{authn.Masters}}, nil, `requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"system:masters"}, Extra:map[string][]string(nil)} without impersonating a user name`},
		"only a uid":        {admin, api.Impersonation{UID: "7"}, nil, `requested &user.DefaultInfo{Name:"", UID:"7", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name`},
		"only an extra":     {admin, api.Impersonation{Extra: map[string][]string{"scopes": {"x"}}}, nil, `requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"scopes":[]string{"x"}}} without impersonating a user name`},
		"with an extra":     {admin, api.Impersonation{User: "carol", Extra: map[string][]string{"scopes": {"x"}}}, &authn.User{Name: "carol", Groups: []string{authn.AllAuthenticated}, Extra: map[string][]string{"scopes": {"x"}}}, ""},
		"not allowed":       {bob, api.Impersonation{User: "admin"}, nil, `configmaps is forbidden: User "bob" cannot impersonate-on:user-info:list resource "configmaps" in API group "" in the namespace "default"`},
		"an account":        {admin, api.Impersonation{User: "system:serviceaccount:d2:default"}, &authn.User{Name: "system:serviceaccount:d2:default", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:d2", authn.AllAuthenticated}}, ""},
		"and its uid":       {admin, api.Impersonation{User: "system:serviceaccount:d2:default", UID: "7"}, &authn.User{Name: "system:serviceaccount:d2:default", UID: "7", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:d2", authn.AllAuthenticated}}, ""},
		"in a group":        {admin, api.Impersonation{User: "system:serviceaccount:d2:default", Groups: []string{"dev"}}, &authn.User{Name: "system:serviceaccount:d2:default", Groups: []string{"dev", authn.AllAuthenticated}}, ""},
		"no account":        {admin, api.Impersonation{User: "system:serviceaccount:d2:"}, &authn.User{Name: "system:serviceaccount:d2:", Groups: []string{authn.AllAuthenticated}}, ""},
		"a node":            {admin, api.Impersonation{User: "system:node:n1"}, &authn.User{Name: "system:node:n1", Groups: []string{"system:nodes", authn.AllAuthenticated}}, ""},
		"known twice":       {admin, api.Impersonation{User: "carol", Groups: []string{authn.AllAuthenticated}}, &authn.User{Name: "carol", Groups: []string{authn.AllAuthenticated}}, ""},
		"not known":         {admin, api.Impersonation{User: "carol", Groups: []string{authn.Unauthenticated}}, &authn.User{Name: "carol", Groups: []string{authn.Unauthenticated}}, ""},
		"nobody, known":     {admin, api.Impersonation{User: authn.Anonymous, Groups: []string{authn.AllAuthenticated}}, &authn.User{Name: authn.Anonymous, Groups: []string{authn.AllAuthenticated, authn.Unauthenticated}}, ""},
		"a master":          {admin, api.Impersonation{User: "carol", Groups: []string{authn.Masters}}, &authn.User{Name: "carol", Groups: []string{authn.Masters, authn.AllAuthenticated}}, ""},
		"not as an account": {bob, api.Impersonation{User: "system:serviceaccount:d2:default"}, nil, `User "bob" cannot impersonate-on:serviceaccount:list resource "configmaps"`},
		"not as a node":     {bob, api.Impersonation{User: "system:node:n1"}, nil, `User "bob" cannot impersonate-on:arbitrary-node:list resource "configmaps"`},
		"by an unknown":     {authn.AnonymousUser(), api.Impersonation{User: "x", Groups: []string{authn.Masters}}, nil, `User "system:anonymous" cannot impersonate-on:user-info:list`},
	} {
		got, _, err := impersonated(context.Background(), authz.Masters{}, c.user, &c.as, &api.Info{Resource: true, Verb: "list", Version: "v1", Plural: "configmaps", Namespace: "default"})
		if !reflect.DeepEqual(got, c.want) || (c.fail == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

// grants allow what they list, as "VERB GROUP/RESOURCE[/SUBRESOURCE] NAMESPACE/NAME", and note what
// they were asked.
type grants struct {
	allowed []string
	asked   []string
}

// Authorize implements [authz.Authorizer].
func (g *grants) Authorize(_ context.Context, a authz.Attributes) (bool, string, error) {
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	question := fmt.Sprintf("%s %s/%s %s/%s", a.Verb, a.Group, resource, a.Namespace, a.Name)
	g.asked = append(g.asked, question)
	return slices.Contains(g.allowed, question), "", nil
}

// What has to be allowed are kube-apiserver's questions: first as what the
// identity is used, then each part of it, and else the right to be anybody.
func TestImpersonate_AsksForEachPart(t *testing.T) {
	const on = " /configmaps default/"
	onNode := &authn.User{Name: "system:serviceaccount:kube-system:agent", Extra: map[string][]string{authn.NodeNameKey: {"n1"}}}
	for name, c := range map[string]struct {
		by         *authn.User
		as         api.Impersonation
		constraint string
		allowed    []string
	}{
		"a user": {nil, api.Impersonation{User: "ann", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"a.b/c": {"x", "y"}}}, "impersonate:user-info", []string{
			"impersonate-on:user-info:list" + on, "impersonate:user-info authentication.k8s.io/users /ann", "impersonate:user-info authentication.k8s.io/uids /7",
			"impersonate:user-info authentication.k8s.io/groups /dev", "impersonate:user-info authentication.k8s.io/userextras/a.b/c /x", "impersonate:user-info authentication.k8s.io/userextras/a.b/c /y"}},
		"a service account": {nil, api.Impersonation{User: "system:serviceaccount:d2:bot"}, "impersonate:serviceaccount", []string{
			"impersonate-on:serviceaccount:list" + on, "impersonate:serviceaccount authentication.k8s.io/serviceaccounts d2/bot"}},
		"a node": {nil, api.Impersonation{User: "system:node:n1"}, "impersonate:arbitrary-node", []string{
			"impersonate-on:arbitrary-node:list" + on, "impersonate:arbitrary-node authentication.k8s.io/nodes /n1"}},
		"its node": {onNode, api.Impersonation{User: "system:node:n1"}, "impersonate:associated-node", []string{
			"impersonate-on:associated-node:list" + on, "impersonate:associated-node authentication.k8s.io/nodes /*"}},
		"any user": {nil, api.Impersonation{User: "ann", Groups: []string{authn.Masters}}, "", []string{
			"impersonate /users /ann", "impersonate /groups /system:masters"}},
		"any service account": {nil, api.Impersonation{User: "system:serviceaccount:d2:bot", Groups: []string{"dev"}}, "", []string{
			"impersonate /serviceaccounts d2/bot", "impersonate /groups /dev"}},
	} {
		if c.by == nil {
			c.by = &authn.User{Name: "bob"}
		}
		for missing := range len(c.allowed) + 1 {
			g := &grants{allowed: slices.Delete(slices.Clone(c.allowed), min(missing, len(c.allowed)), min(missing+1, len(c.allowed)))}
			got, in, err := impersonated(context.Background(), g, c.by, &c.as, &api.Info{Resource: true, Verb: "list", Version: "v1", Plural: "configmaps", Namespace: "default"})
			if all := missing == len(c.allowed); all != (err == nil) || all && (got.Name != c.as.User || in.verb("") != c.constraint) {
				t.Errorf("%s, allowed %q: %+v by %q, %v, asked %q", name, g.allowed, got, in.verb(""), err, g.asked)
			}
		}
	}
}

// The refusal is that of kube-apiserver 1.36.3, which it gave to a service account that
// may impersonate:user-info.
func TestImpersonate_TellsWhichKeyOfAnExtraIsWrong(t *testing.T) {
	may := &grants{allowed: []string{"impersonate-on:user-info:list /configmaps default/", "impersonate:user-info authentication.k8s.io/users /jane"}}
	as := api.Impersonation{User: "jane", Extra: map[string][]string{"scopes": {"view"}}}
	_, _, err := impersonated(context.Background(), may, &authn.User{Name: "robot"}, &as, &api.Info{Resource: true, Verb: "list", Version: "v1", Plural: "configmaps", Namespace: "default"})
	want := `userextras.authentication.k8s.io is forbidden: User "robot" cannot impersonate:user-info resource "userextras" in API group "authentication.k8s.io" at the cluster scope: ` +
		`impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
