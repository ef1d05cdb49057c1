package decisions

import (
	"fmt"
	"math/rand/v2"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// What random rules and requests are made of.
var (
	verbs      = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "*"}
	groups     = []string{"", "", "apps", "batch", "example.com", "*"}
	resources  = []string{"pods", "pods/log", "pods/*", "*/scale", "deployments", "deployments/scale", "configmaps", "crontabs", "crontabs/status", "*"}
	names      = []string{"one", "two", "one.two", "*"}
	paths      = []string{"/api", "/api/*", "/apis*", "/healthz", "/metrics/*", "/logs/a", "*"}
	namespaces = []string{"default", "kube-public"}
)

func one(r *rand.Rand, of []string) string { return of[r.IntN(len(of))] }

func few(r *rand.Rand, of []string) (out []string) {
	for range 1 + r.IntN(3) {
		out = append(out, one(r, of))
	}
	return out
}

// bound is somebody who is bound by one binding only, so that there is one reason for
// what is allowed.
type bound struct {
	who       authorizationv1.SubjectAccessReviewSpec
	namespace string // of the binding; "" is the cluster
	rules     []rbacv1.PolicyRule
}

// random makes roles, binds somebody to each, and asks about them.
func (s *scene) random(r *rand.Rand) {
	var all []bound
	for i := range roles {
		all = append(all, s.randomBinding(r, i))
	}
	for range decisions {
		of := all[r.IntN(len(all))]
		spec := of.who
		if r.IntN(4) == 0 && len(of.rules) > 0 && of.namespace == "" {
			spec.NonResourceAttributes = randomPath(r, of.rules)
		} else {
			spec.ResourceAttributes = randomResource(r, of)
		}
		s.ask(spec)
	}
}

func (s *scene) randomBinding(r *rand.Rand, i int) bound {
	number, in := fmt.Sprint(i), one(r, namespaces)
	of := bound{}
	if r.IntN(2) == 0 {
		of.namespace = in
	}
	kind, place := "ClusterRole", ""
	if of.namespace != "" && r.IntN(2) == 0 {
		kind, place = "Role", in
	}
	if r.IntN(10) > 0 { // others are missing
		for range 1 + r.IntN(3) {
			of.rules = append(of.rules, randomRule(r, kind == "ClusterRole"))
		}
		s.role(place, number, of.rules...)
	}
	var subject rbacv1.Subject
	subject, of.who = s.randomSubject(r, number, in)
	s.bind(of.namespace, number, kind, s.prefix+number, subject)
	return of
}

func (s *scene) randomSubject(r *rand.Rand, number, in string) (rbacv1.Subject, authorizationv1.SubjectAccessReviewSpec) {
	name := s.prefix + number
	switch r.IntN(3) {
	case 0:
		return user(name), authorizationv1.SubjectAccessReviewSpec{User: name}
	case 1:
		return members(name), authorizationv1.SubjectAccessReviewSpec{User: "somebody", Groups: []string{"others", name}}
	}
	return account(in, name), authorizationv1.SubjectAccessReviewSpec{User: "system:serviceaccount:" + in + ":" + name}
}

func randomRule(r *rand.Rand, ofCluster bool) rbacv1.PolicyRule {
	if ofCluster && r.IntN(4) == 0 {
		return rbacv1.PolicyRule{Verbs: few(r, verbs), NonResourceURLs: few(r, paths)}
	}
	rule := rbacv1.PolicyRule{Verbs: few(r, verbs), APIGroups: few(r, groups), Resources: few(r, resources)}
	if r.IntN(3) == 0 {
		rule.ResourceNames = few(r, names)
	}
	return rule
}

// like is one of the values that a rule has, where it has any, or another.
func like(r *rand.Rand, ruled, others []string) string {
	if len(ruled) > 0 && r.IntN(6) > 0 {
		if v := one(r, ruled); v != "*" {
			return v
		}
	}
	return one(r, others)
}

// randomResource is a request that a rule of somebody's role may match.
func randomResource(r *rand.Rand, of bound) *authorizationv1.ResourceAttributes {
	var rule rbacv1.PolicyRule
	if len(of.rules) > 0 {
		rule = of.rules[r.IntN(len(of.rules))]
	}
	a := &authorizationv1.ResourceAttributes{Verb: like(r, rule.Verbs, verbs[:9]), Group: like(r, rule.APIGroups, groups[:5])}
	a.Resource, a.Subresource, _ = strings.Cut(like(r, rule.Resources, []string{"pods", "deployments/scale", "secrets"}), "/")
	if a.Resource == "*" {
		a.Resource = "replicasets"
	}
	switch a.Namespace = of.namespace; r.IntN(6) {
	case 0:
		a.Namespace = one(r, namespaces)
	case 1:
		a.Namespace = ""
	}
	if len(rule.ResourceNames) > 0 || r.IntN(3) == 0 {
		a.Name = like(r, rule.ResourceNames, names)
	}
	return a
}

func randomPath(r *rand.Rand, rules []rbacv1.PolicyRule) *authorizationv1.NonResourceAttributes {
	rule := rules[r.IntN(len(rules))]
	path := like(r, rule.NonResourceURLs, []string{"/api", "/apis", "/metrics/slow"})
	if prefix, open := strings.CutSuffix(path, "*"); open {
		path = prefix + one(r, []string{"", "v1", "a/b"})
	}
	return &authorizationv1.NonResourceAttributes{Verb: like(r, rule.Verbs, []string{"get", "post"}), Path: path}
}
