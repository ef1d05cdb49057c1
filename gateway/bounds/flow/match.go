package flow

import (
	"slices"
	"strings"

	fcv1 "k8s.io/api/flowcontrol/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// matches tells whether one of the rules of a FlowSchema is about a request.
func matches(rules []fcv1.PolicyRulesWithSubjects, a *authz.Attributes) bool {
	for i := range rules {
		r := &rules[i]
		switch {
		case !sentByOne(r.Subjects, a.User):
		case a.ResourceRequest && forResource(r.ResourceRules, a), !a.ResourceRequest && forPath(r.NonResourceRules, a):
			return true
		}
	}
	return false
}

func sentByOne(subjects []fcv1.Subject, u *authn.User) bool {
	for i := range subjects {
		if sentBy(&subjects[i], u) {
			return true
		}
	}
	return false
}

func sentBy(s *fcv1.Subject, u *authn.User) bool {
	switch {
	case s.Kind == fcv1.SubjectKindUser && s.User != nil:
		return s.User.Name == fcv1.NameAll || s.User.Name == u.Name
	case s.Kind == fcv1.SubjectKindGroup && s.Group != nil:
		return s.Group.Name == fcv1.NameAll || u.In(s.Group.Name)
	case s.Kind == fcv1.SubjectKindServiceAccount && s.ServiceAccount != nil:
		// Whether the rest could name an account nobody asks: who is called so must
		// not fall under another schema than there.
		name, ok := strings.CutPrefix(u.Name, authn.ServiceAccountPrefix+s.ServiceAccount.Namespace+":")
		return ok && (s.ServiceAccount.Name == fcv1.NameAll || s.ServiceAccount.Name == name)
	}
	return false
}

func forResource(rules []fcv1.ResourcePolicyRule, a *authz.Attributes) bool {
	for i := range rules {
		r := &rules[i]
		if !has(r.Verbs, a.Verb) || !hasResource(r.Resources, a) || !has(r.APIGroups, a.Group) {
			continue
		}
		if a.Namespace == "" && r.ClusterScope || a.Namespace != "" && has(r.Namespaces, a.Namespace) {
			return true
		}
	}
	return false
}

// hasResource tells whether a list names the resource, with its subresource if the
// request is for one.
func hasResource(list []string, a *authz.Attributes) bool {
	if a.Subresource == "" {
		return has(list, a.Resource)
	}
	for _, one := range list {
		resource, sub, _ := strings.Cut(one, "/")
		if len(list) == 1 && one == fcv1.ResourceAll || resource == a.Resource && sub == a.Subresource {
			return true
		}
	}
	return false
}

func forPath(rules []fcv1.NonResourcePolicyRule, a *authz.Attributes) bool {
	for i := range rules {
		if has(rules[i].Verbs, a.Verb) && slices.ContainsFunc(rules[i].NonResourceURLs, func(path string) bool { return below(a.Path, path) }) {
			return true
		}
	}
	return false
}

// below tells whether a path is what a rule names, or below it.
func below(path, rule string) bool {
	if rule == fcv1.NonResourceAll || rule == path {
		return true
	}
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(strings.TrimSuffix(rule, "*"), "/"))
	return ok && strings.HasPrefix(rest, "/")
}

// has tells whether a list names x, or all there is, which it then does alone.
func has(list []string, x string) bool {
	return len(list) == 1 && list[0] == "*" || slices.Contains(list, x)
}
