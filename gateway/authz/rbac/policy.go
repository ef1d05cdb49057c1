package rbac

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Objects are the roles and bindings of one moment. Whoever is given them changes
// nothing.
type Objects struct {
	Roles               []*rbacv1.Role
	ClusterRoles        []*rbacv1.ClusterRole
	RoleBindings        []*rbacv1.RoleBinding
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding
}

// Policy is what [Objects] allow. It is immutable.
type Policy struct {
	rules   *rules
	listed  []rbacv1.PolicyRule // by number
	cluster *scope
	within  map[string]*scope // by namespace
}

// Authorize reports whether a request is allowed, and by which binding. The reason of
// a refusal names the roles that bindings of the user have and that do not exist; "" is
// none.
func (p *Policy) Authorize(a authz.Attributes) (allowed bool, reason string) {
	if a.User == nil {
		return false, ""
	}
	q := p.rules.matching(&a)
	within := p.within[a.Namespace]
	for _, s := range [...]*scope{p.cluster, within} {
		if s == nil {
			continue
		}
		if reason, yes := s.users[a.User.Name].allows(&q); yes {
			return true, reason
		}
		for _, group := range a.User.Groups {
			if reason, yes := s.groups[group].allows(&q); yes {
				return true, reason
			}
		}
	}
	if err := missing(p.missing(a.User, a.Namespace)); err != nil {
		reason = "RBAC: " + err.Error()
	}
	return false, reason
}

// Rules are what a user may do in a namespace, "" being the cluster, where whatever
// rules of the cluster allow is allowed in namespaces too. The error tells of roles that
// bindings of the user have and that do not exist; the rules are then those of others.
func (p *Policy) Rules(user *authn.User, namespace string) ([]rbacv1.PolicyRule, error) {
	var out []rbacv1.PolicyRule
	all := p.of(user, namespace)
	for _, b := range all {
		out = append(out, p.listed[b.first:b.last]...)
	}
	return out, missing(all)
}

// of are the bindings of a user, in order.
func (p *Policy) of(user *authn.User, namespace string) (all []*binding) {
	p.each(user, namespace, func(g *grants) {
		for _, one := range g.all {
			all = append(all, one.binding)
		}
		all = append(all, g.missing...)
	})
	return ordered(all)
}

// missing are those of them whose role is not there.
func (p *Policy) missing(user *authn.User, namespace string) (all []*binding) {
	p.each(user, namespace, func(g *grants) { all = append(all, g.missing...) })
	return ordered(all)
}

// each visits what a user is granted as each of the subjects that it is.
func (p *Policy) each(user *authn.User, namespace string, visit func(*grants)) {
	if user == nil {
		return
	}
	for _, s := range [...]*scope{p.cluster, p.within[namespace]} {
		if s == nil {
			continue
		}
		if g := s.users[user.Name]; g != nil {
			visit(g)
		}
		for _, group := range user.Groups {
			if g := s.groups[group]; g != nil {
				visit(g)
			}
		}
	}
}

// ordered is each of the bindings once, in order.
func ordered(all []*binding) []*binding {
	slices.SortFunc(all, func(a, b *binding) int { return cmp.Compare(a.order, b.order) })
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
	return utilerrors.NewAggregate(errs)
}

// compiler makes a policy.
type compiler struct {
	*Policy
	roles   map[key]span
	ordered int
}

// key is a role's namespace, "" for ClusterRoles, and name.
type key struct{ namespace, name string }

// span is the numbers of a role's rules.
type span struct{ first, last int }

// Compile makes a policy.
func Compile(o Objects) *Policy {
	c := &compiler{Policy: &Policy{rules: newRules(), cluster: newScope(), within: map[string]*scope{}}, roles: map[key]span{}}
	for _, r := range o.ClusterRoles {
		c.role(key{"", r.Name}, r.Rules)
	}
	for _, r := range o.Roles {
		c.role(key{r.Namespace, r.Name}, r.Rules)
	}
	for _, b := range o.ClusterRoleBindings {
		c.bind(c.cluster, "ClusterRoleBinding "+strconv.Quote(b.Name), "", b.RoleRef, b.Subjects)
	}
	for _, b := range o.RoleBindings {
		s := c.within[b.Namespace]
		if s == nil {
			s = newScope()
			c.within[b.Namespace] = s
		}
		c.bind(s, "RoleBinding "+strconv.Quote(b.Name+"/"+b.Namespace), b.Namespace, b.RoleRef, b.Subjects)
	}
	c.rules.settle()
	c.cluster.settle()
	for _, s := range c.within {
		s.settle()
	}
	return c.Policy
}

func (c *compiler) role(k key, all []rbacv1.PolicyRule) {
	first, last := c.rules.add(all)
	c.roles[k] = span{first, last}
	c.listed = append(c.listed, all...)
}

// bind grants a role to subjects; name is the binding's, in words.
func (c *compiler) bind(to *scope, name, namespace string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) {
	c.ordered++
	b := &binding{order: c.ordered}
	var there span
	if there, b.missing = c.referred(namespace, ref); b.missing == nil {
		b.first, b.last = there.first, there.last
	}
	by := "RBAC: allowed by " + name + " of " + ref.Kind + " " + strconv.Quote(ref.Name) + " to "
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.UserKind:
			add(to.users, s.Name, grant{b, by + s.Kind + " " + strconv.Quote(s.Name)})
		case rbacv1.GroupKind:
			add(to.groups, s.Name, grant{b, by + s.Kind + " " + strconv.Quote(s.Name)})
		case rbacv1.ServiceAccountKind:
			in := cmp.Or(s.Namespace, namespace)
			if in == "" {
				continue
			}
			add(to.users, authn.ServiceAccountPrefix+in+":"+s.Name, grant{b, by + s.Kind + " " + strconv.Quote(s.Name+"/"+in)})
		}
	}
}

// referred are the rules of the role that a binding has.
func (c *compiler) referred(namespace string, ref rbacv1.RoleRef) (span, error) {
	k := key{"", ref.Name}
	switch {
	case ref.Kind == "ClusterRole":
	case ref.Kind == "Role" && namespace != "":
		k.namespace = namespace
	default:
		return span{}, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
	}
	there, ok := c.roles[k]
	if !ok {
		kind := "clusterrole"
		if k.namespace != "" {
			kind = "role"
		}
		return span{}, apierrors.NewNotFound(rbacv1.Resource(kind), ref.Name)
	}
	return there, nil
}
