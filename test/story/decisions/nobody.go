package decisions

import "github.com/wasmgate/wasmgate/test/story"

// nobody is what those may ask for who show nothing of themselves, or what nobody knows.
func nobody() story.Story {
	s := newScene("requests of nobody")
	s.role("default", "some", rule{Verbs: list("get", "create"), APIGroups: list("coordination.k8s.io"), Resources: list("leases"), ResourceNames: list("one")})
	s.bind("default", "some", "Role", s.prefix+"some", members("system:unauthenticated"))
	s.role("", "some", rule{Verbs: list("list"), APIGroups: list("node.k8s.io"), Resources: list("runtimeclasses")}, rule{Verbs: list("get"), NonResourceURLs: list("/openid/*")})
	s.bind("", "some", "ClusterRole", s.prefix+"some", user("system:anonymous"))
	const in, classes = "/apis/coordination.k8s.io/v1/namespaces/default/leases", "/apis/node.k8s.io/v1/runtimeclasses"
	for _, shown := range []string{"", "Bearer nobody-knows-it", "Bearer", "Basic YTpi"} {
		ask := func(method, path, body string, more ...string) {
			kind := ""
			if body != "" {
				kind = story.JSON
			}
			s.Add(story.Step{Method: method, Path: path, Type: kind, Body: body, Headers: append([]string{"Authorization", shown}, more...), Brief: true})
		}
		for _, path := range []string{
			"/livez", "/readyz", "/healthz", "/version", "/livez/etcd", "/openid/v1/jwks", "/metrics", "/", "/nothing", "/api", "/apis", "/api/v1", "/apis/node.k8s.io/v1", "/apis/apps/v1", "/openapi/v2", "/openapi/v3",
			in + "/one", in + "/two", in, classes, classes + "/one", "/api/v1/namespaces/default", "/api/v1/secrets",
		} {
			ask("GET", path, "")
		}
		ask("POST", in, `{"metadata":{"name":"one"}}`)
		ask("DELETE", in+"/one", "")
		ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`)
		ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"list","group":"node.k8s.io","resource":"runtimeclasses"}}}`)
		ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", `{"spec":{"namespace":"default"}}`)
		ask("GET", classes, "", "Impersonate-User", "ann")
		ask("GET", classes, "", "Impersonate-Group", "system:masters")
	}
	for _, as := range [][]string{{"Impersonate-User", "system:anonymous"}, {"Impersonate-User", "system:anonymous", "Impersonate-Group", "system:unauthenticated"}} {
		for _, path := range []string{in + "/one", classes, "/version", "/api"} {
			s.Add(story.Step{Method: "GET", Path: path, Headers: as, Brief: true})
		}
	}
	return s.end()
}
