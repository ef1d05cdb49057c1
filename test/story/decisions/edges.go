package decisions

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/test/story"
)

type (
	spec     = authorizationv1.SubjectAccessReviewSpec
	resource = authorizationv1.ResourceAttributes
	page     = authorizationv1.NonResourceAttributes
	rule     = rbacv1.PolicyRule
)

func list(of ...string) []string { return of }

// edges are what random roles hardly meet.
func edges() story.Story {
	s := newScene("edges of roles")
	in := func(name string) string { return s.prefix + name }
	s.role("", "everything", rule{Verbs: list("*"), APIGroups: list("*"), Resources: list("*")}, rule{Verbs: list("*"), NonResourceURLs: list("*")})
	s.role("", "stars", rule{Verbs: list("get"), NonResourceURLs: list("/a**", "/b/*/c", "/c/*")})
	s.role("", "nameless", rule{Verbs: list("get", "create"), APIGroups: list(""), Resources: list("configmaps"), ResourceNames: list("")})
	s.role("", "odd", rule{Verbs: list("GET"), APIGroups: list("Apps"), Resources: list("Pods", "pods/", "/log")})
	s.role("", "none")
	s.role("default", "reads", rule{Verbs: list("get"), APIGroups: list(""), Resources: list("secrets")})
	s.role("kube-public", "reads", rule{Verbs: list("list"), APIGroups: list(""), Resources: list("secrets")})
	for _, name := range []string{"everything", "stars", "nameless", "odd", "none"} {
		s.bind("", name, "ClusterRole", in(name), user(in(name)))
	}
	s.bind("", "gone", "ClusterRole", in("gone"), user(in("gone")), members(in("gone")))
	s.bind("default", "gone", "Role", in("gone"), user(in("gone")))
	s.bind("kube-public", "gone", "Role", in("gone"), user(in("gone-there")))
	s.bind("default", "reads", "Role", in("reads"), user(in("reads")), account("", in("robot")), account("kube-public", in("robot")))
	s.bind("kube-public", "reads", "Role", in("reads"), members(in("reads")))
	s.bind("default", "whole", "ClusterRole", in("everything"), members("system:serviceaccounts:"+in("ns")))

	everywhere := func(who spec, all ...resource) {
		for _, r := range all {
			who.ResourceAttributes = &r
			s.ask(who)
		}
	}
	pages := func(who spec, verb string, paths ...string) {
		for _, path := range paths {
			who.NonResourceAttributes = &page{Verb: verb, Path: path}
			s.ask(who)
		}
	}
	secrets := []resource{{Verb: "get", Resource: "secrets", Namespace: "default"}, {Verb: "list", Resource: "secrets", Namespace: "kube-public"}, {Verb: "get", Resource: "secrets"}}
	everywhere(spec{User: in("everything")}, resource{Verb: "get", Resource: "pods"}, resource{Verb: "odd", Group: "no.such", Resource: "things", Subresource: "sub", Namespace: "nowhere", Name: "n"}, resource{})
	pages(spec{User: in("everything")}, "post", "/", "", "/anything")
	pages(spec{User: in("stars")}, "get", "/a", "/ab", "/a*", "/b", "/b/*/c", "/b/x/c", "/c", "/c/", "/c/d", "/C/d")
	pages(spec{User: in("stars")}, "head", "/ab")
	everywhere(spec{User: in("stars")}, resource{Verb: "get", Resource: "pods"})
	everywhere(spec{User: in("nameless")}, resource{Verb: "create", Resource: "configmaps", Namespace: "default"}, resource{Verb: "get", Resource: "configmaps", Namespace: "default", Name: "one"})
	everywhere(spec{User: in("odd")}, resource{Verb: "get", Group: "apps", Resource: "pods"}, resource{Verb: "GET", Group: "Apps", Resource: "Pods"},
		resource{Verb: "GET", Group: "Apps", Resource: "pods"}, resource{Verb: "GET", Group: "Apps", Subresource: "log"})
	everywhere(spec{User: in("none")}, secrets...)
	everywhere(spec{User: in("gone")}, secrets...)
	everywhere(spec{User: in("gone-there")}, secrets...)
	everywhere(spec{User: "somebody", Groups: list(in("gone"))}, secrets...)
	everywhere(spec{User: in("reads")}, secrets...)
	everywhere(spec{User: "somebody", Groups: list(in("reads"))}, secrets...)
	everywhere(spec{User: "system:serviceaccount:default:" + in("robot")}, secrets...)
	everywhere(spec{User: "system:serviceaccount:kube-public:" + in("robot")}, secrets...)
	everywhere(spec{User: "system:serviceaccount:kube-system:" + in("robot")}, secrets...)
	everywhere(spec{User: "robot", Groups: list("system:serviceaccounts:" + in("ns"))}, secrets...)
	everywhere(spec{User: "root", Groups: list("system:masters")}, secrets...)
	everywhere(spec{User: "system:anonymous", Groups: list("system:unauthenticated")}, secrets...)
	pages(spec{User: "system:anonymous", Groups: list("system:unauthenticated")}, "get", "/healthz", "/livez", "/readyz", "/version", "/version/", "/livez/etcd", "/api", "/metrics", "/openapi/v3")
	pages(spec{User: "somebody", Groups: list("system:authenticated")}, "get", "/api", "/api/v1", "/apis/apps/v1", "/openapi/v2", "/metrics", "/livez/etcd", "/.well-known/openid-configuration")
	return s.end()
}
