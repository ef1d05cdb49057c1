package api

import (
	"context"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/authz"
)

func TestParseInfo_VERB01(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		watch        bool
		want         Info
	}{
		"get":                      {"GET", "/api/v1/namespaces/ns/configmaps/x", false, Info{Verb: "get", Version: "v1", Namespace: "ns", Plural: "configmaps", Name: "x", scoped: true}},
		"head":                     {"HEAD", "/api/v1/namespaces/ns/configmaps/x", false, Info{Verb: "get", Version: "v1", Namespace: "ns", Plural: "configmaps", Name: "x", scoped: true}},
		"list":                     {"GET", "/apis/example.com/v1/namespaces/ns/crontabs", false, Info{Verb: "list", Group: "example.com", Version: "v1", Namespace: "ns", Plural: "crontabs", scoped: true}},
		"list of all":              {"GET", "/apis/example.com/v1/crontabs/", false, Info{Verb: "list", Group: "example.com", Version: "v1", Plural: "crontabs"}},
		"watch":                    {"GET", "/apis/example.com/v1/crontabs", true, Info{Verb: "watch", Group: "example.com", Version: "v1", Plural: "crontabs"}},
		"watch of one":             {"GET", "/api/v1/namespaces/ns/configmaps/x", true, Info{Verb: "get", Version: "v1", Namespace: "ns", Plural: "configmaps", Name: "x", scoped: true}},
		"head never watches":       {"HEAD", "/api/v1/configmaps", true, Info{Verb: "list", Version: "v1", Plural: "configmaps"}},
		"create":                   {"POST", "/api/v1/namespaces/ns/configmaps", true, Info{Verb: "create", Version: "v1", Namespace: "ns", Plural: "configmaps", scoped: true}},
		"update":                   {"PUT", "/api/v1/nodes/n", false, Info{Verb: "update", Version: "v1", Plural: "nodes", Name: "n"}},
		"patch":                    {"PATCH", "/api/v1/nodes/n", false, Info{Verb: "patch", Version: "v1", Plural: "nodes", Name: "n"}},
		"delete":                   {"DELETE", "/api/v1/nodes/n", false, Info{Verb: "delete", Version: "v1", Plural: "nodes", Name: "n"}},
		"deletecollection":         {"DELETE", "/api/v1/nodes", false, Info{Verb: "deletecollection", Version: "v1", Plural: "nodes"}},
		"other method":             {"OPTIONS", "/api/v1/nodes", false, Info{Verb: "", Version: "v1", Plural: "nodes"}},
		"subresource":              {"PUT", "/apis/g/v1/namespaces/ns/things/x/status", false, Info{Verb: "update", Group: "g", Version: "v1", Namespace: "ns", Plural: "things", Name: "x", Subresource: "status", scoped: true}},
		"old watch":                {"GET", "/apis/g/v1/watch/things", false, Info{Verb: "watch", Group: "g", Version: "v1", Plural: "things", old: true}},
		"old watch of one":         {"POST", "/api/v1/watch/namespaces/ns/configmaps/x", false, Info{Verb: "watch", Version: "v1", Namespace: "ns", Plural: "configmaps", Name: "x", scoped: true, old: true}},
		"old watch of a namespace": {"GET", "/api/v1/watch/namespaces/ns", false, Info{Verb: "watch", Version: "v1", Namespace: "ns", Plural: "namespaces", Name: "ns", old: true}},
		"no old watch":             {"GET", "/api/v1/watch", false, Info{Verb: "list", Version: "v1", Plural: "watch"}},
		"no namespace":             {"GET", "/api/v1/namespaces//configmaps", false, Info{Verb: "list", Version: "v1", Plural: "configmaps", scoped: true}},
		"deep subresource":         {"GET", "/api/v1/nodes/n/proxy/a/b", false, Info{Verb: "get", Version: "v1", Plural: "nodes", Name: "n", Subresource: "proxy", below: "a/b"}},

		"namespaces":                {"GET", "/api/v1/namespaces", false, Info{Verb: "list", Version: "v1", Plural: "namespaces"}},
		"a namespace":               {"GET", "/api/v1/namespaces/ns", false, Info{Verb: "get", Version: "v1", Namespace: "ns", Plural: "namespaces", Name: "ns"}},
		"a namespace's status":      {"PUT", "/api/v1/namespaces/ns/status", false, Info{Verb: "update", Version: "v1", Namespace: "ns", Plural: "namespaces", Name: "ns", Subresource: "status"}},
		"a namespace's finalizers":  {"PUT", "/api/v1/namespaces/ns/finalize", false, Info{Verb: "update", Version: "v1", Namespace: "ns", Plural: "namespaces", Name: "ns", Subresource: "finalize"}},
		"namespaces in a namespace": {"GET", "/api/v1/namespaces/ns/namespaces", false, Info{Verb: "list", Version: "v1", Namespace: "ns", Plural: "namespaces", scoped: true}},
		"status as a plural":        {"GET", "/apis/g/v1/namespaces/ns/status", false, Info{Verb: "list", Group: "g", Version: "v1", Namespace: "ns", Plural: "status", scoped: true}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Resource, c.want.Path = true, c.path
			if got := parseInfo(c.method, c.path, c.watch); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestParseInfo_OtherPaths(t *testing.T) {
	for _, path := range []string{
		"", "/", "/api", "/api/", "/api/v1", "/api/v1/", "/apis", "/apis/", "/apis/g", "/apis/g/", "/apis/g/v1", "/apis/g/v1/",
		"/apis//v1/things", "/livez/etcd", "/apiv1/nodes", "/version", "/metrics", "/openapi/v3/apis/g/v1",
	} {
		if got := parseInfo("POST", path, true); got.Resource || got.Verb != "post" || got.Path != path {
			t.Errorf("%q: %+v", path, got)
		}
	}
}

// told is an authorizer that refuses, and remembers what it was asked.
type told struct{ last authz.Attributes }

func (a *told) Authorize(_ context.Context, about authz.Attributes) (bool, string, error) {
	a.last = about
	return false, "", nil
}

// Who decides what may be done is told by what a list, a watch and a deletion of a collection
// are narrowed, by the first selector of each sort, and of nothing else.
func TestSelectorsAreToldToAuthorizers(t *testing.T) {
	w, by := newWorld(t), &told{}
	w.asked.Authorizer = by
	const both, old = "fieldSelector=a%3Db%2Cc!%3Dd&labelSelector=e+in+(f)", "/apis/example.com/v1/watch/namespaces/default/widgets"
	narrowed := authz.UnreadSelectors{Fields: "a=b,c!=d", Labels: "e in (f)"}
	for _, c := range []struct {
		method, url, verb string
		want              authz.UnreadSelectors
	}{
		{"GET", widgets + "?" + both, "list", narrowed},
		{"GET", widgets + "?watch=1&" + both, "watch", narrowed},
		{"DELETE", widgets + "?" + both, "deletecollection", narrowed},
		{"GET", widgets + "?" + both + "&fieldSelector=x%3Dy&labelSelector=z", "list", narrowed},
		{"GET", widgets + "?fieldSelector=a", "list", authz.UnreadSelectors{Fields: "a"}},
		{"GET", widgets + "?%&" + both, "list", narrowed},
		{"GET", widgets, "list", authz.UnreadSelectors{}},
		{"GET", widgets + "/one?" + both, "get", authz.UnreadSelectors{}},
		{"DELETE", widgets + "/one?" + both, "delete", authz.UnreadSelectors{}},
		{"POST", widgets + "?" + both, "create", authz.UnreadSelectors{}},
		{"GET", old + "?" + both, "watch", authz.UnreadSelectors{}}, // as by kube-apiserver
		{"GET", "/hello?" + both, "get", authz.UnreadSelectors{}},
	} {
		w.do(c.method, c.url, "").want(403, "")
		if got := by.last; got.Verb != c.verb || got.Unread != c.want {
			t.Errorf("%s %s: asked about %s of %+v", c.method, c.url, got.Verb, got.Unread)
		}
	}
}

func FuzzParseInfo_VERB01(f *testing.F) {
	for _, path := range []string{"/api/v1/namespaces/a/configmaps/b/status", "/apis/g/v/namespaces//x", "/apis/g/v/ns/\xff", "//api///", "/api/v1/namespaces/a/namespaces/b"} {
		f.Add("GET", path, true)
	}
	f.Fuzz(func(t *testing.T, method, path string, watch bool) {
		i := parseInfo(method, path, watch)
		switch {
		case i.Path != path:
			t.Fatal("the path was changed")
		case !i.Resource && (i.Plural != "" || i.Namespace != "" || i.Name != "" || i.Subresource != ""):
			t.Fatalf("not a resource, but %+v", i)
		case i.Resource && !strings.HasPrefix(path, "/api"):
			t.Fatalf("a resource outside the API: %+v", i)
		case strings.Contains(i.Name+i.Namespace+i.Plural+i.Group+i.Version, "/"):
			t.Fatalf("a segment with a slash: %+v", i)
		case i.Verb == "watch" && (method != "GET" || i.Name != "" || !watch):
			t.Fatalf("a watch: %+v", i)
		}
	})
}
