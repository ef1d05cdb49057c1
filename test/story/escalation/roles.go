package escalation

import "github.com/wasmgate/wasmgate/test/story"

// write are the verbs, but those that are about others' rights.
const write = "create get list watch update patch delete deletecollection"

// writer may write roles and bindings, and has some rights beside.
func (s *scene) writer() {
	s.grant("", "bob",
		rule(group, "roles rolebindings", write), rule(`""`, "configmaps", "get list update"), rule(`""`, "pods", "get"), ruleOf(`""`, "secrets", "get", "one"),
		rule("apps", "deployments deployments/scale", "*"), rule("apps", "*/status", "get"), rule("batch", "*", "get"))
	s.granted("bob")
}

func rolesCreated(s *scene) {
	s.writer()
	for _, rules := range [][]string{
		{rule(`""`, "configmaps", "get")},
		{rule(`""`, "configmaps", "get list watch")},
		{rule(`""`, "secrets", "get")},
		{ruleOf(`""`, "secrets", "get", "one")},
		{ruleOf(`""`, "secrets", "get", "one two")},
		{rule("apps extensions", "deployments", "*")},
		{rule("apps", "deployments", "get list")},
		{rule("apps", "*", "get")},
		{rule("apps", "deployments/scale", "get")},
		{rule("apps", "deployments/status", "get")},
		{rule("apps", "deployments/other", "get")},
		{rule("batch", "jobs jobs/status", "get")},
		{rule("*", "*", "*")},
		{rule(`""`, "services", "get"), rule(`""`, "services", "list"), rule(`""`, "nodes", "get")},
		{rule(`""`, "pods services", "get list")},
		{rule(`""`, "configmaps", "get"), rule(`""`, "pods", "get"), ruleOf(`""`, "configmaps", "update", "a")},
		{ruleOf(`""`, "secrets services", "get delete", "one three")},
		{`{"apiGroups":[""],"resources":["pods"],"verbs":[]}`},
		{`{"apiGroups":[""],"resources":["services"],"verbs":[]}`, rule(`""`, "services", "get")},
		{paths("/healthz", "get")},
	} {
		s.create("bob", "roles", rules...)
	}
	s.try("bob", "POST", s.in("roles"), `{"metadata":{"generateName":"new-"},`+list([]string{rule(`""`, "services", "get")})+`}`)
	s.end("roles", "kept")
	s.do("bob", "POST", s.in("roles"), object("kept", list([]string{rule(`""`, "services", "get")})))
	s.do("bob", "POST", s.in("roles"), object("kept", list([]string{rule(`""`, "configmaps", "get")})))
	s.try("bob", "PUT", s.in("roles/other"), object("other", list([]string{rule(`""`, "services", "get")})))
	s.try("bob", "PUT", s.in("roles/other"), object("other", list([]string{rule(`""`, "pods", "get")})))
	s.try("bob", "PATCH", s.in("roles/other?fieldManager=m"), `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"other"},`+list([]string{rule(`""`, "services", "get")})+`}`, apply)
	s.try("bob", "PATCH", s.in("roles/other?fieldManager=m"), `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"other"},`+list([]string{rule(`""`, "pods", "get")})+`}`, apply)
	s.Add(story.Step{Method: "POST", Path: s.in("roles?dryRun=All"), Body: object("new", list([]string{rule(`""`, "services", "get")})), Headers: append(as(s.of("bob")), "Impersonate-Group", "system:masters"), Brief: true})
	s.Add(story.Step{Method: "POST", Path: s.in("roles?dryRun=All"), Body: object("new", list([]string{rule(`""`, "services", "get")})), Headers: append(as(s.of("bob")), "Impersonate-Group", "some"), Brief: true})
}

const apply = "application/apply-patch+yaml"

func rolesChanged(s *scene) {
	s.writer()
	s.make("roles", "strong", list([]string{rule(`""`, "services", "*"), rule(`""`, "configmaps", "get")}))
	const strong = "roles/strong"
	patch := func(body string) { s.try("bob", "PATCH", s.in(strong), body, story.MergePatch) }
	patch(`{}`)
	patch(`{"metadata":{"labels":{"a":"b"}}}`)
	patch(`{"metadata":{"finalizers":["example.com/f"]}}`)
	patch(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u"}]}}`)
	patch(`{"metadata":{"finalizers":["example.com/f"],"labels":{"a":"b"}}}`)
	patch(`{"metadata":{"managedFields":[{}]}}`)
	patch(`{` + list([]string{rule(`""`, "configmaps", "get")}) + `}`)
	patch(`{` + list([]string{rule(`""`, "configmaps", "delete")}) + `}`)
	patch(`{"rules":null}`)
	s.try("bob", "PATCH", s.in(strong), `[{"op":"add","path":"/rules/-","value":`+rule(`""`, "nodes", "get")+`}]`, story.JSONPatch)
	s.try("bob", "PATCH", s.in(strong), `[{"op":"remove","path":"/rules/0"}]`, story.JSONPatch)
	s.try("bob", "PATCH", s.in(strong), `{"metadata":{"annotations":{"a":"b"}}}`, "application/strategic-merge-patch+json")
	s.try("bob", "PATCH", s.in(strong+"?fieldManager=m&force=true"), `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"strong"},`+list([]string{rule(`""`, "nodes", "get")})+`}`, apply)
	s.try("bob", "PATCH", s.in(strong+"?fieldManager=m&force=true"), `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"strong"},`+list([]string{rule(`""`, "pods", "get")})+`}`, apply)
	s.try("bob", "PUT", s.in(strong), object("strong", list([]string{rule(`""`, "services", "*"), rule(`""`, "configmaps", "get")})))
	s.try("bob", "PUT", s.in(strong), object("strong", list([]string{rule(`""`, "configmaps", "get")})))
	s.try("bob", "PUT", s.in(strong), `{"metadata":{"name":"strong","resourceVersion":"1"},`+list([]string{rule(`""`, "services", "*")})+`}`)
	s.try("bob", "DELETE", s.in(strong), "")
	s.do("bob", "PATCH", s.in(strong), `{`+list([]string{rule(`""`, "pods", "get")})+`}`, story.MergePatch)
	s.do("bob", "DELETE", s.in(strong), "")
}

func escalating(s *scene) {
	s.grant("", "dave", rule(group, "roles", "create update patch get escalate"))
	s.grant("", "erin", rule(group, "roles", "create update patch get"), ruleOf(group, "roles", "escalate", "named"))
	s.grant("cluster", "frank", rule(group, "roles clusterroles", "create update patch get escalate"))
	s.grant("", "gus", rule(group, "roles", "create update patch get"), ruleOf(group, "roles", "escalate", "fresh-new"))
	s.make("roles", "named", list([]string{rule(`""`, "pods", "get")}))
	s.make("roles", "other", list([]string{rule(`""`, "pods", "get")}))
	s.granted("dave")
	services := []string{rule(`""`, "services", "get")}
	for _, user := range []string{"dave", "erin", "frank"} {
		s.create(user, "roles", services...)
		s.try(user, "POST", s.in("roles"), object("named2", list(services)))
		for _, name := range []string{"named", "other"} {
			s.try(user, "PATCH", s.in("roles/"+name), `{`+list(services)+`}`, story.MergePatch)
			s.try(user, "PUT", s.in("roles/"+name), object(name, list(services)))
		}
		s.try(user, "PUT", s.in("roles/unnamed"), object("unnamed", list(services)))
	}
	s.create("frank", "clusterroles", services...)
	s.try("frank", "POST", s.in("clusterroles"), object("new", aggregating))
	for _, name := range []string{"fresh", "other"} { // by name, of which a POST has none in its path
		s.try("gus", "POST", s.in("roles"), object(name+"-new", list(services)))
		s.try("gus", "PUT", s.in("roles/"+name+"-new"), object(name+"-new", list(services)))
		s.try("gus", "PATCH", s.in("roles/"+name+"-new?fieldManager=m"), `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"`+name+`-new"},`+list(services)+`}`, apply)
	}
}

const aggregating = `"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}`

func clusterRoles(s *scene) {
	s.grant("cluster", "carol", rule(group, "clusterroles", write), rule(`""`, "configmaps", "get"), paths("/healthz /logs/*", "get"))
	s.grant("cluster", "root", rule("*", "*", "*"), paths("*", "*"))
	s.grant("cluster", "almost", rule("*", "*", "*"))
	s.make("clusterroles", s.of("aggregate"), aggregating)
	s.make("clusterroles", s.of("strong"), list([]string{rule(`""`, "services", "*")}))
	s.granted("carol")
	for _, rules := range [][]string{
		{rule(`""`, "configmaps", "get")},
		{rule(`""`, "configmaps", "list")},
		{paths("/healthz", "get")},
		{paths("/healthz/*", "get")},
		{paths("/logs/one /logs/*", "get")},
		{paths("/metrics /healthz", "get post")},
		{paths("*", "*")},
		{rule("*", "*", "*"), paths("*", "*")},
	} {
		s.create("carol", "clusterroles", rules...)
	}
	for _, user := range []string{"carol", "root", "almost"} {
		s.try(user, "POST", s.in("clusterroles"), object("new", aggregating))
		s.try(user, "POST", s.in("clusterroles"), object("new", `"aggregationRule":{"clusterRoleSelectors":[]}`))
		s.try(user, "PATCH", s.in("clusterroles/"+s.of("aggregate")), `{"metadata":{"labels":{"a":"b"}}}`, story.MergePatch)
		s.try(user, "PATCH", s.in("clusterroles/"+s.of("aggregate")), `{"aggregationRule":null}`, story.MergePatch)
		s.try(user, "PATCH", s.in("clusterroles/"+s.of("aggregate")), `{"metadata":{"finalizers":["example.com/f"]}}`, story.MergePatch)
		s.try(user, "PATCH", s.in("clusterroles/"+s.of("strong")), `{`+aggregating+`}`, story.MergePatch)
		s.try(user, "PATCH", s.in("clusterroles/"+s.of("strong")), `{"metadata":{"labels":{"a":"b"}}}`, story.MergePatch)
	}
	s.create("almost", "clusterroles", paths("/healthz", "get"))
}
