package authz

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

var bob = &authn.User{Name: "bob", Groups: []string{authn.AllAuthenticated}}

func TestMasters(t *testing.T) {
	admin := &authn.User{Name: "admin", Groups: []string{authn.Masters}}
	for name, c := range map[string]struct {
		a    Attributes
		want bool
	}{
		"admin, resource":        {Attributes{User: admin, Verb: "delete", Resource: "secrets", ResourceRequest: true}, true},
		"admin, path":            {Attributes{User: admin, Verb: "get", Path: "/metrics"}, true},
		"bob, resource":          {Attributes{User: bob, Verb: "get", Resource: "secrets", ResourceRequest: true}, false},
		"bob, who he is":         {Attributes{User: bob, Verb: "create", Group: "authentication.k8s.io", Resource: "selfsubjectreviews", ResourceRequest: true}, true},
		"bob, what he may":       {Attributes{User: bob, Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews", ResourceRequest: true}, true},
		"bob, all he may":        {Attributes{User: bob, Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews", ResourceRequest: true}, true},
		"bob, what others may":   {Attributes{User: bob, Verb: "create", Group: "authorization.k8s.io", Resource: "subjectaccessreviews", ResourceRequest: true}, false},
		"bob, another group":     {Attributes{User: bob, Verb: "create", Group: "example.com", Resource: "selfsubjectreviews", ResourceRequest: true}, false},
		"bob, another verb":      {Attributes{User: bob, Verb: "get", Group: "authentication.k8s.io", Resource: "selfsubjectreviews", ResourceRequest: true}, false},
		"anonymous, who that is": {Attributes{User: authn.AnonymousUser(), Verb: "create", Group: "authentication.k8s.io", Resource: "selfsubjectreviews", ResourceRequest: true}, false},
		"bob, metrics":           {Attributes{User: bob, Verb: "get", Path: "/metrics"}, false},
		"bob, livez":             {Attributes{User: bob, Verb: "get", Path: "/livez"}, true},
		"anonymous, readyz":      {Attributes{User: authn.AnonymousUser(), Verb: "get", Path: "/readyz/etcd"}, true},
		"nobody, version":        {Attributes{Verb: "get", Path: "/version"}, true},
		"nobody, version/":       {Attributes{Verb: "get", Path: "/version/"}, true},
		"nobody, post":           {Attributes{Verb: "post", Path: "/livez"}, false},
		"nobody, prefix only":    {Attributes{Verb: "get", Path: "/livezfoo"}, false},
		"nobody, discovery":      {Attributes{Verb: "get", Path: "/api"}, false},
		"nobody, named version":  {Attributes{Verb: "get", Path: "/version", Resource: "x", ResourceRequest: true}, false},
	} {
		got, _, err := Masters{}.Authorize(context.Background(), c.a)
		if err != nil || got != c.want {
			t.Errorf("%s: %v %v, want %v", name, got, err, c.want)
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
