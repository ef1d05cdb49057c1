package rbac

import (
	"errors"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Objects are roles and bindings. Whoever is given them changes nothing.
type Objects struct {
	Roles               []*rbacv1.Role
	ClusterRoles        []*rbacv1.ClusterRole
	RoleBindings        []*rbacv1.RoleBinding
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding
}

// Policy is what roles and bindings of one moment allow. It is immutable.
type Policy struct {
	rules   *rules
	cluster *scope
	within  table[scope] // by namespace
}

// Authorize reports whether a request is allowed, and by which binding: by one of them,
// if there are several. The reason of a refusal names the roles that bindings of the user
// have and that do not exist; "" is none.
func (p *Policy) Authorize(a authz.Attributes) (allowed bool, reason string) {
	if a.User == nil {
		return false, ""
	}
	q := p.rules.matching(&a)
	for _, s := range [...]*scope{p.cluster, p.within.get(a.Namespace)} {
		if s == nil {
			continue
		}
		if reason, yes := s.users.get(a.User.Name).allows(&q); yes {
			return true, reason
		}
		for _, group := range a.User.Groups {
			if reason, yes := s.groups.get(group).allows(&q); yes {
				return true, reason
			}
		}
	}
	if err := missing(p.missing(a.User, a.Namespace)); err != nil {
		reason = "RBAC: " + err.Error()
	}
	return false, reason
}

// mostRules is how many rules of one user are listed, which is more than anybody reads.
const mostRules = 50_000

// Rules are what a user may do in a namespace, "" being the cluster, where whatever
// rules of the cluster allow is allowed in namespaces too. What several bindings give is
// told once. The error tells of roles that bindings of the user have and that do not exist;
// the rules are then those of others. It tells, too, of more rules than there are listed.
func (p *Policy) Rules(user *authn.User, namespace string) ([]rbacv1.PolicyRule, error) {
	var out []rbacv1.PolicyRule
	all := p.of(user, namespace)
	told := map[int]bool{} // roles, by the number of their first rule
	for _, b := range all {
		if len(b.rules) == 0 || told[b.first] {
			continue
		}
		told[b.first] = true
		if room := mostRules - len(out); len(b.rules) > room {
			more := fmt.Errorf("RBAC: user %q has more than the %d rules that are listed%w", user.Name, mostRules, authz.ErrIncomplete)
			return append(out, b.rules[:room]...), errors.Join(more, missing(all))
		}
		out = append(out, b.rules...)
	}
	return out, missing(all)
}

// of are the bindings of a user, in order.
func (p *Policy) of(user *authn.User, namespace string) (all []*binding) {
	p.each(user, namespace, func(g *grants) {
		for _, some := range [][]grant{g.all, g.missing} {
			for _, one := range some {
				all = append(all, one.binding)
			}
		}
	})
	return ordered(all)
}

// missing are those of them whose role is not there.
func (p *Policy) missing(user *authn.User, namespace string) (all []*binding) {
	p.each(user, namespace, func(g *grants) {
		for _, one := range g.missing {
			all = append(all, one.binding)
		}
	})
	return ordered(all)
}

// each visits what a user is granted as each of the subjects that it is.
func (p *Policy) each(user *authn.User, namespace string, visit func(*grants)) {
	if user == nil {
		return
	}
	p.cluster.each(user.Name, user.Groups, visit)
	p.within.get(namespace).each(user.Name, user.Groups, visit)
}

// ordered is each of the bindings once, in order.
func ordered(all []*binding) []*binding {
	slices.SortFunc(all, func(a, b *binding) int { return a.before(b.key) })
	return slices.Compact(all)
}

// missing tells of the roles that bindings have and that do not exist.
func missing(all []*binding) error {
	var errs []error
	for _, b := range all {
		if b.missing != nil {
			errs = append(errs, b.missing)
		}
	}
	return excerpt.Errors(errs)
}
