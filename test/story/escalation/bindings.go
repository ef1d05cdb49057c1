package escalation

import "github.com/wasmgate/wasmgate/test/story"

// roles are one that a writer has all of, and one that it has not, in the namespace
// and in the cluster.
func (s *scene) roles() {
	weak, strong := list([]string{rule(`""`, "configmaps", "get")}), list([]string{rule(`""`, "services", "get list"), rule(`""`, "configmaps", "get")})
	s.make("roles", "weak", weak)
	s.make("roles", "strong", strong)
	s.make("clusterroles", s.of("weak"), weak)
	s.make("clusterroles", s.of("strong"), strong)
}

func bindingsCreated(s *scene) {
	s.roles()
	s.writer()
	const what = "rolebindings"
	s.bind("bob", what, "Role", "weak")
	s.bind("bob", what, "Role", "strong")
	s.bind("bob", what, "ClusterRole", s.of("weak"))
	s.bind("bob", what, "ClusterRole", s.of("strong"))
	s.bind("bob", what, "ClusterRole", "cluster-admin")
	s.bind("bob", what, "ClusterRole", "system:discovery")
	s.bind("bob", what, "Foo", "weak")
	s.try("bob", "POST", s.in(what), object("new", `"roleRef":{"kind":"Role","name":"strong"}`))
	s.try("bob", "POST", s.in(what), object("new", `"roleRef":{"kind":"Role","name":"weak"}`))
	s.try("bob", "POST", s.in(what), object("new", `"roleRef":{"apiGroup":"example.com","kind":"Role","name":"strong"}`))
	s.try("bob", "POST", s.in(what), object("new", `"roleRef":{"apiGroup":"example.com","kind":"Role","name":"weak"}`))
	s.try("bob", "POST", s.in(what), object("new", `"roleRef":{"kind":"Role"}`))
	s.try("bob", "POST", s.in(what), object("new", `"subjects":[]`))
	s.try("bob", "POST", s.in(what), object("new", `"roleRef":{"kind":"Role","name":"strong"},"subjects":[{"kind":"Odd"}]`))
	s.try("bob", "PUT", s.in(what+"/other"), object("other", bound("Role", "strong", "x")))
	s.try("bob", "PUT", s.in(what+"/other"), object("other", bound("Role", "weak", "x")))
	s.try("bob", "PATCH", s.in(what+"/other?fieldManager=m"), `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"other"},`+bound("Role", "strong", "x")+`}`, apply)
	s.try("bob", "PATCH", s.in(what+"/other?fieldManager=m"), `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"other"},`+bound("Role", "weak", "x")+`}`, apply)
	s.end(what, "kept")
	s.do("bob", "POST", s.in(what), object("kept", bound("Role", "strong", "x")))
	s.do("bob", "POST", s.in(what), object("kept", bound("Role", "weak", "x")))
}

func bindingsChanged(s *scene) {
	s.roles()
	s.writer()
	s.make("rolebindings", "to-weak", bound("Role", "weak", "x"))
	s.make("rolebindings", "to-strong", bound("Role", "strong", "x"))
	for _, name := range []string{"to-weak", "to-strong"} {
		path := s.in("rolebindings/" + name)
		for _, body := range []string{
			`{}`, `{"subjects":[]}`, `{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":{"finalizers":["example.com/f"]}}`,
			`{"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"y"}]}`,
			`{"roleRef":{"name":"strong"}}`, `{"roleRef":{"name":"weak"}}`, `{"roleRef":{"kind":"ClusterRole","name":"cluster-admin"}}`,
		} {
			s.try("bob", "PATCH", path, body, story.MergePatch)
		}
		s.try("bob", "PATCH", path, `{"subjects":[{"kind":"User","name":"y"}]}`, "application/strategic-merge-patch+json")
		s.try("bob", "PATCH", path, `[{"op":"add","path":"/subjects/-","value":{"kind":"User","name":"y"}}]`, story.JSONPatch)
		s.try("bob", "DELETE", path, "")
	}
	s.Add(story.Step{Method: "PATCH", Path: s.in("rolebindings/to-weak?dryRun=All"), Type: story.MergePatch, Body: `{"roleRef":{"name":"strong"}}`})
}

func binding(s *scene) {
	s.roles()
	s.make("roles", "other", list([]string{rule(`""`, "services", "get")}))
	s.grant("", "gina", rule(group, "rolebindings", "create patch get"), ruleOf(group, "clusterroles", "bind", s.of("strong")), ruleOf(group, "roles", "bind", "strong"))
	s.grant("", "hans", rule(group, "rolebindings", "create patch get"), rule(group, "clusterroles", "bind"))
	s.grant("cluster", "iris", rule(group, "rolebindings clusterrolebindings", "create patch get"), ruleOf(group, "clusterroles", "bind", s.of("strong")))
	s.grant("cluster", "jack", rule(group, "clusterrolebindings", "create patch get"))
	s.grant("", "jack", rule(group, "clusterroles", "bind"))
	s.make("rolebindings", "to-strong", bound("Role", "strong", "x"))
	s.granted("gina")
	for _, user := range []string{"gina", "hans", "iris"} {
		s.bind(user, "rolebindings", "ClusterRole", s.of("strong"))
		s.bind(user, "rolebindings", "ClusterRole", s.of("weak"))
		s.bind(user, "rolebindings", "ClusterRole", "is-not-there")
		s.bind(user, "rolebindings", "Role", "strong")
		s.bind(user, "rolebindings", "Role", "other")
		s.try(user, "PATCH", s.in("rolebindings/to-strong"), `{"subjects":[]}`, story.MergePatch)
	}
	for _, user := range []string{"iris", "jack"} {
		s.bind(user, "clusterrolebindings", "ClusterRole", s.of("strong"))
		s.bind(user, "clusterrolebindings", "ClusterRole", s.of("weak"))
	}
}

func clusterBindings(s *scene) {
	s.roles()
	s.grant("cluster", "carol", rule(group, "clusterrolebindings rolebindings", write), rule(`""`, "configmaps", "get"))
	s.grant("", "carol", rule(`""`, "services", "*"))
	s.make("clusterrolebindings", s.of("to-strong"), bound("ClusterRole", s.of("strong"), "x"))
	s.granted("carol")
	const what = "clusterrolebindings"
	s.bind("carol", what, "ClusterRole", s.of("weak"))
	s.bind("carol", what, "ClusterRole", s.of("strong"))
	s.bind("carol", what, "ClusterRole", "cluster-admin")
	s.bind("carol", what, "ClusterRole", "is-not-there")
	s.bind("carol", what, "Role", "weak")
	s.bind("carol", "rolebindings", "ClusterRole", s.of("strong"))
	for _, body := range []string{
		`{}`, `{"subjects":[]}`, `{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":{"finalizers":["example.com/f"]}}`, `{"roleRef":{"name":"cluster-admin"}}`,
	} {
		s.try("carol", "PATCH", s.in(what+"/"+s.of("to-strong")), body, story.MergePatch)
	}
	s.try("carol", "PUT", s.in(what+"/"+s.of("other")), object(s.of("other"), bound("ClusterRole", s.of("strong"), "x")))
	s.try("carol", "PUT", s.in(what+"/"+s.of("other")), object(s.of("other"), bound("ClusterRole", s.of("weak"), "x")))
}

func missing(s *scene) {
	s.writer()
	s.bind("bob", "rolebindings", "Role", "is-not-there")
	s.bind("bob", "rolebindings", "ClusterRole", "is-not-there")
	s.try("bob", "PATCH", s.in("rolebindings/other?fieldManager=m"), `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"other"},`+bound("Role", "is-not-there", "x")+`}`, apply)
	s.make("rolebindings", "hangs", bound("Role", "was-there", s.of("bob")))
	s.make("rolebindings", "hangs-too", bound("ClusterRole", s.of("was-there"), s.of("bob")))
	s.granted("later")
	s.create("bob", "roles", rule(`""`, "services", "get"))
	s.create("bob", "roles", rule(`""`, "pods", "get"))
	s.try("bob", "PATCH", s.in("rolebindings/hangs"), `{"subjects":[]}`, story.MergePatch)
	s.try("bob", "PATCH", s.in("rolebindings/hangs"), `{"metadata":{"finalizers":["example.com/f"]}}`, story.MergePatch)
}
