package authz

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

var bob = &authn.User{Name: "bob", Groups: []string{authn.AllAuthenticated}}

// said decides and lists as it is told.
type said struct {
	allowed     bool
	reason, err string
}

func (s said) wrong() error {
	if s.err == "" {
		return nil
	}
	return errors.New(s.err)
}

func (s said) Authorize(context.Context, Attributes) (bool, string, error) {
	return s.allowed, s.reason, s.wrong()
}

func (s said) Rules(user *authn.User, namespace string) ([]rbacv1.PolicyRule, error) {
	return []rbacv1.PolicyRule{{Verbs: []string{user.Name}, Resources: []string{namespace + s.reason}}}, s.wrong()
}

func TestChain_RBAC(t *testing.T) {
	admin := &authn.User{Name: "admin", Groups: []string{authn.Masters}}
	for name, c := range map[string]struct {
		chain Chain
		user  *authn.User
		want  said
		rules int
	}{
		"nobody is asked":              {nil, bob, said{}, 0},
		"an administrator":             {Chain{Masters{}, Always(false)}, admin, said{allowed: true}, 0},
		"nobody":                       {Chain{Masters{}, Always(true)}, bob, said{allowed: true}, 2},
		"everything is refused":        {Chain{Masters{}, Always(false)}, bob, said{reason: "Everything is forbidden."}, 0},
		"the first who allows decides": {Chain{said{reason: "a"}, said{allowed: true, reason: "b"}, said{allowed: true, reason: "c"}}, bob, said{allowed: true, reason: "b"}, 3},
		"all reasons and errors":       {Chain{said{reason: "a", err: "x"}, said{reason: "b", err: "y"}}, bob, said{reason: "a\nb", err: "[x, y]"}, 2},
	} {
		allowed, reason, err := c.chain.Authorize(context.Background(), Attributes{User: c.user, Verb: "get", Resource: "pods", ResourceRequest: true})
		told := ""
		if err != nil {
			told = err.Error()
		}
		if got := (said{allowed, reason, told}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		rules, err := c.chain.Rules(c.user, "ns")
		if len(rules) != c.rules || (err != nil) != (c.want.err != "") {
			t.Errorf("%s: %v, %v", name, rules, err)
		}
	}
}

func TestOpen(t *testing.T) {
	for text, want := range map[string]bool{
		"get /livez": true, "head /readyz": true, "get /version": true, "get /version/": true, "get /healthz": true,
		"get /readyz/etcd": false, "post /livez": false, "get /livezfoo": false, "get /api": false, "get /": false,
	} {
		verb, path, _ := strings.Cut(text, " ")
		if Open(verb, path) != want {
			t.Errorf("%s: want %v", text, want)
		}
	}
}

// The wanted statuses were read off kube-apiserver 1.36.3.
func TestForbiddenError_IsKubeAPIServers(t *testing.T) {
	for name, c := range map[string]struct {
		a      Attributes
		reason string
		want   string
	}{
		"collection in a namespace": {
			Attributes{User: bob, Verb: "list", Version: "v1", Resource: "configmaps", Namespace: "default", ResourceRequest: true}, "",
			`{"metadata":{},"status":"Failure","message":"configmaps is forbidden: User \"bob\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\"","reason":"Forbidden","details":{"kind":"configmaps"},"code":403}`,
		},
		"subresource of a group": {
			Attributes{User: bob, Verb: "get", Group: "apps", Resource: "deployments", Subresource: "scale", Namespace: "default", Name: "d", ResourceRequest: true}, "",
			`{"metadata":{},"status":"Failure","message":"deployments.apps \"d\" is forbidden: User \"bob\" cannot get resource \"deployments/scale\" in API group \"apps\" in the namespace \"default\"","reason":"Forbidden","details":{"name":"d","group":"apps","kind":"deployments"},"code":403}`,
		},
		"cluster scope": {
			Attributes{User: bob, Verb: "get", Resource: "nodes", Name: "n1", ResourceRequest: true}, "",
			`{"metadata":{},"status":"Failure","message":"nodes \"n1\" is forbidden: User \"bob\" cannot get resource \"nodes\" in API group \"\" at the cluster scope","reason":"Forbidden","details":{"name":"n1","kind":"nodes"},"code":403}`,
		},
		"path": {
			Attributes{User: bob, Verb: "post", Path: "/foo/bar"}, "",
			`{"metadata":{},"status":"Failure","message":"forbidden: User \"bob\" cannot post path \"/foo/bar\"","reason":"Forbidden","details":{},"code":403}`,
		},
		"with a reason, and markup in a name": {
			Attributes{User: bob, Verb: "get", Path: "/<b>"}, "no role",
			`{"metadata":{},"status":"Failure","message":"forbidden: User \"bob\" cannot get path \"/\u0026lt;b\u0026gt;\": no role","reason":"Forbidden","details":{},"code":403}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(ForbiddenError(c.a, c.reason).ErrStatus)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestUnauthorizedError_IsKubeAPIServers(t *testing.T) {
	got, err := json.Marshal(UnauthorizedError().ErrStatus)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
