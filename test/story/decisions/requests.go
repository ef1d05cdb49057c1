package decisions

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/test/story"
)

// requests are what others ask for, each as the verb and resource that it counts as.
func requests() story.Story {
	s := newScene("requests of others")
	reads := func(verbs []string, resource string, names ...string) rbacv1.PolicyRule {
		return rule{Verbs: verbs, APIGroups: list("", "apps", "rbac.authorization.k8s.io", "apiextensions.k8s.io"), Resources: list(resource), ResourceNames: names}
	}
	who := s.prefix + "ann"
	s.role("default", "some", reads(list("get", "list", "watch", "delete"), "configmaps", "one"), reads(list("list"), "secrets"), reads(list("get"), "deployments/scale"))
	s.bind("default", "some", "Role", s.prefix+"some", user(who))
	s.role("", "some", reads(list("get"), "namespaces", "default", "absent"), reads(list("patch"), "namespaces/status"), rule{Verbs: list("get"), NonResourceURLs: list("/metrics/*")})
	s.bind("", "some", "ClusterRole", s.prefix+"some", user(who))

	const in, core = "/api/v1/namespaces/default", "/api/v1"
	as := []string{"Impersonate-User", who}
	ask := func(method, path, kind, body string) {
		s.Add(story.Step{Method: method, Path: path, Type: kind, Body: body, Headers: as, Brief: true})
	}
	for _, path := range []string{
		in + "/configmaps/one", in + "/configmaps/two", in + "/configmaps", in + "/configmaps?fieldSelector=metadata.name=one", in + "/configmaps?fieldSelector=metadata.name=two",
		in + "/configmaps?fieldSelector=metadata.name!=one", core + "/configmaps?fieldSelector=metadata.name=one", in + "/configmaps?watch=1&fieldSelector=metadata.name=two",
		in + "/secrets", in + "/secrets?watch=1&timeoutSeconds=1", in + "/secrets/one", core + "/secrets", core + "/namespaces", core + "/namespaces/default", core + "/namespaces/absent",
		core + "/namespaces/kube-system", core + "/namespaces/default/status", "/apis/apps/v1/namespaces/default/deployments/one/scale",
		"/apis/apps/v1/namespaces/default/deployments/one", "/apis/apps/v1/namespaces/default/deployments/one/status", "/apis/apps/v1/deployments", "/apis/no.such/v1/things", "/apis/apps/v1/nothings",
		"/livez/etcd", "/metrics", "/nothing",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	} {
		ask("GET", path, "", "")
	}
	for _, path := range []string{in + "/configmaps/one", in + "/configmaps/two", in + "/configmaps", in + "/configmaps?fieldSelector=metadata.name=one"} {
		ask("DELETE", path+"", "", "")
	}
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}}`
	ask("POST", in+"/configmaps", story.JSON, object)
	ask("PUT", in+"/configmaps/one", story.JSON, object)
	ask("PATCH", in+"/configmaps/one", story.MergePatch, `{}`)
	ask("PATCH", in+"/configmaps/one?fieldManager=m&force=true", "application/apply-patch+yaml", object)
	ask("PATCH", core+"/namespaces/absent/status", story.MergePatch, `{}`)
	ask("PATCH", core+"/namespaces/absent", story.MergePatch, `{}`)
	ask("POST", in+"/pods/p/eviction", story.JSON, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`)
	ask("POST", in+"/serviceaccounts/default/token", story.JSON, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"}`)
	ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", story.JSON, sample)
	ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", story.JSON, `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`)
	ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", story.JSON, `{"spec":{"namespace":"default"}}`)
	ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", story.JSON, `{"spec":{}}`)
	ask("POST", "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews", story.JSON, `{"spec":{"user":"ann","resourceAttributes":{"verb":"get","resource":"pods","namespace":"default"}}}`)
	ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", story.JSON, `{}`)
	ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", story.JSON, `{"spec":{"token":"t"}}`)
	return s.end()
}
