// Package decisions owns a table of what roles and bindings allow, told as stories of
// reviews and of requests by others. kube-apiserver's answers are in test/recorded;
// test/cmd/record writes them.
//
// It must not know how a server decides, nor which one is asked.
package decisions

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "decisions"

// group is where roles and bindings are.
const group = "/apis/rbac.authorization.k8s.io/v1"

// reviews are questions about others.
const reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

// stories is how many stories are random, of roles and decisions each.
const (
	stories   = 4
	roles     = 50
	decisions = 60
)

// Stories are all of them, the same each time.
func Stories() []story.Story {
	all := []story.Story{edges(), requests(), nobody()}
	for i := range stories {
		s := newScene(fmt.Sprintf("random roles %d", i+1))
		s.random(rand.New(rand.NewPCG(18, uint64(i))))
		all = append(all, s.end())
	}
	return all
}

// scene is a story that is being written. All that it makes has its prefix.
type scene struct {
	story.Story
	prefix string
}

func newScene(name string) *scene {
	s := &scene{Story: story.Story{Name: name, Base: reviews, Sample: sample}}
	s.prefix = "dec-" + strings.SplitN(s.Group(), ".", 2)[0] + "-"
	return s
}

const sample = `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"ann"}}`

// end lets nothing remain, and waits for a role and a binding of each kind that are
// made last: a server may take a moment to see them.
func (s *scene) end() story.Story {
	s.role("", "last", rbacv1.PolicyRule{Verbs: []string{"last"}, APIGroups: []string{"last"}, Resources: []string{"last"}})
	s.bind("", "last", "ClusterRole", s.prefix+"last", user(s.prefix+"cluster"))
	s.role("default", "last", rbacv1.PolicyRule{Verbs: []string{"last"}, APIGroups: []string{"last"}, Resources: []string{"last"}})
	s.bind("default", "last", "Role", s.prefix+"last", user(s.prefix+"default"))
	for _, who := range []string{"cluster", "default"} {
		spec := authorizationv1.SubjectAccessReviewSpec{User: s.prefix + who, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "last", Group: "last", Resource: "last", Namespace: "default",
		}}
		s.Before = append(s.Before, story.Step{Method: "POST", Path: reviews, Type: story.JSON, Body: review(spec), Until: `"allowed":true`})
	}
	return s.Story
}

// make makes an object for the time of the story.
func (s *scene) make(namespace, plural, name string, object any) {
	where := group + "/"
	if namespace != "" {
		where += "namespaces/" + namespace + "/"
	}
	where += plural
	s.Before = append(s.Before,
		story.Step{Method: "DELETE", Path: where + "/" + s.prefix + name},
		story.Step{Method: "POST", Path: where, Type: story.JSON, Body: text(object)})
	s.After = append(s.After, story.Step{Method: "DELETE", Path: where + "/" + s.prefix + name})
}

// role makes a Role, or in no namespace a ClusterRole.
func (s *scene) role(namespace, name string, rules ...rbacv1.PolicyRule) {
	object := map[string]any{"metadata": map[string]any{"name": s.prefix + name}, "rules": rules}
	if namespace == "" {
		s.make("", "clusterroles", name, object)
		return
	}
	s.make(namespace, "roles", name, object)
}

// bind makes a binding to a role.
func (s *scene) bind(namespace, name, kind, role string, to ...rbacv1.Subject) {
	object := map[string]any{
		"metadata": map[string]any{"name": s.prefix + name}, "subjects": to,
		"roleRef": map[string]any{"apiGroup": rbacv1.GroupName, "kind": kind, "name": role},
	}
	if namespace == "" {
		s.make("", "clusterrolebindings", name, object)
		return
	}
	s.make(namespace, "rolebindings", name, object)
}

// ask asks about somebody.
func (s *scene) ask(spec authorizationv1.SubjectAccessReviewSpec) {
	s.Add(story.Step{Method: "POST", Path: reviews, Body: review(spec)})
}

func review(spec authorizationv1.SubjectAccessReviewSpec) string {
	return text(map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec})
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of what is made here
	}
	return string(b)
}

func user(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}
}

func members(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: "Group", APIGroup: rbacv1.GroupName, Name: name}
}

func account(namespace, name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: name}
}
