// Package escalation owns stories of who may grant what to whom: roles and bindings
// that are written by users who do not have all that these would give.
//
// It must not know how a server comes to its answer.
package escalation

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table.
const Table = "escalation"

// Stories are all of them.
func Stories() (all []story.Story) {
	for _, one := range []struct {
		name string
		tell func(*scene)
	}{
		{"roles that are created", rolesCreated},
		{"roles that are changed", rolesChanged},
		{"roles by those who may escalate", escalating},
		{"cluster roles", clusterRoles},
		{"bindings that are created", bindingsCreated},
		{"bindings that are changed", bindingsChanged},
		{"bindings by those who may bind", binding},
		{"bindings in the cluster", clusterBindings},
		{"bindings to what is not there", missing},
	} {
		s := &scene{Story: story.Story{Name: one.name}}
		s.ns = "esc-" + strings.SplitN(s.Group(), ".", 2)[0]
		s.Base = s.in("")
		s.admin("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+s.ns+`"}}`)
		one.tell(s)
		s.admin("DELETE", Namespace(s.Story), "")
		all = append(all, s.Story)
	}
	return all
}

// Namespace is the path of a story's namespace.
func Namespace(s story.Story) string {
	return "/api/v1/namespaces/esc-" + strings.SplitN(s.Group(), ".", 2)[0]
}

// scene is a story that is being written, in a namespace of its own.
type scene struct {
	story.Story
	ns string
}

const group = "rbac.authorization.k8s.io"

// in is the path of roles or bindings: of the namespace, or of the cluster.
func (s *scene) in(what string) string {
	if strings.HasPrefix(what, "cluster") {
		return "/apis/" + group + "/v1/" + what
	}
	return strings.TrimSuffix("/apis/"+group+"/v1/namespaces/"+s.ns+"/"+what, "/")
}

// of is the name of a user or of what is in the cluster, which no other story has.
func (s *scene) of(name string) string { return s.ns + ":" + name }

// admin does what only has to succeed.
func (s *scene) admin(method, path, body string) {
	s.Add(story.Step{Method: method, Path: path, Body: body, Brief: true})
}

// make makes what there is before the story, and ends with it where it is not in the
// namespace.
func (s *scene) make(what, name, rest string) {
	s.admin("POST", s.in(what), object(name, rest))
	s.end(what, name)
}

// end ends the story with something that it made.
func (s *scene) end(what, name string) {
	gone := story.Step{Method: "DELETE", Path: s.in(what) + "/" + name}
	s.Before, s.After = append(s.Before, gone), append(s.After, gone)
}

// grant lets a user of the story do what rules say, in the namespace or with
// "cluster" in all of them.
func (s *scene) grant(scope, user string, rules ...string) {
	kind, roles, bindings := "Role", "roles", "rolebindings"
	if scope == "cluster" {
		kind, roles, bindings = "ClusterRole", "clusterroles", "clusterrolebindings"
	}
	s.make(roles, s.of("of-"+user), list(rules))
	s.make(bindings, s.of("of-"+user), bound(kind, s.of("of-"+user), s.of(user)))
}

// granted waits until what was granted to a user of the story is in force: who has
// the last of it, has the rest.
func (s *scene) granted(user string) {
	s.grant("", user+"-last", rule(`""`, "events", "get"))
	last := &s.Steps[len(s.Steps)-1]
	last.Await = &story.Step{Method: "GET", Path: Namespace(s.Story) + "/events/await", Headers: as(s.of(user + "-last")), Until: `events \"await\" not found`}
}

func as(user string) []string { return []string{"Impersonate-User", user} }

// try has a user of the story write; nothing is kept of what succeeds.
func (s *scene) try(user, method, path, body string, kind ...string) {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	s.do(user, method, path+separator+"dryRun=All", body, kind...)
}

// do has a user of the story write.
func (s *scene) do(user, method, path, body string, kind ...string) {
	step := story.Step{Method: method, Path: path, Body: body, Headers: as(s.of(user)), Brief: true}
	if len(kind) > 0 {
		step.Type = kind[0]
	}
	s.Add(step)
}

// create has a user of the story try to create a role.
func (s *scene) create(user, what string, rules ...string) {
	s.try(user, "POST", s.in(what), object("new", list(rules)))
}

// bind has a user of the story try to bind somebody to a role.
func (s *scene) bind(user, what, kind, role string) {
	s.try(user, "POST", s.in(what), object("new", bound(kind, role, "somebody")))
}

func object(name, rest string) string { return `{"metadata":{"name":"` + name + `"},` + rest + `}` }

func list(rules []string) string { return `"rules":[` + strings.Join(rules, ",") + `]` }

func texts(words string) string {
	if words == `""` {
		return `[""]`
	}
	return `["` + strings.ReplaceAll(words, " ", `","`) + `"]`
}

// rule is about all of resources, which like groups and verbs are divided by spaces.
func rule(groups, resources, verbs string) string {
	return `{"apiGroups":` + texts(groups) + `,"resources":` + texts(resources) + `,"verbs":` + texts(verbs) + `}`
}

// ruleOf is one about objects by name.
func ruleOf(groups, resources, verbs, names string) string {
	return strings.TrimSuffix(rule(groups, resources, verbs), "}") + `,"resourceNames":` + texts(names) + `}`
}

// paths is a rule about paths.
func paths(paths, verbs string) string {
	return `{"nonResourceURLs":` + texts(paths) + `,"verbs":` + texts(verbs) + `}`
}

// bound is the part of a binding of a user to a role.
func bound(kind, role, user string) string {
	return `"roleRef":{"apiGroup":"` + group + `","kind":"` + kind + `","name":"` + role + `"},"subjects":[{"apiGroup":"` + group + `","kind":"User","name":"` + user + `"}]`
}
