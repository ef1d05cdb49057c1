package rbac

import (
	"cmp"
	"fmt"
	"strconv"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// Compiler makes a policy of roles and bindings, and others of it as they change, which
// takes about as long as there is to change. One goroutine uses it at a time; the
// policies are everybody's.
type Compiler struct {
	policy *Policy
	roles  map[key]numbered
	// bindings are all of them, and bound those of each role, which may be missing.
	bindings map[key]*bound
	bound    map[key]map[*bound]bool
	live     int // of the policy's rules
}

// numbered is the rules of a role, and their numbers.
type numbered struct {
	rules       []rbacv1.PolicyRule
	first, last int
}

// bound is a binding as it is written.
type bound struct {
	key
	role     key
	ref      rbacv1.RoleRef
	subjects []rbacv1.Subject
	// now is what the policy has of it.
	now *binding
}

func empty() Compiler {
	return Compiler{policy: &Policy{rules: &rules{}}, roles: map[key]numbered{}, bindings: map[key]*bound{}, bound: map[key]map[*bound]bool{}}
}

// Compile makes a policy.
func Compile(o Objects) *Policy { return new(Compiler).Update(o, Objects{}) }

// Update makes the policy that follows the one before once some objects are written, new
// ones or others in place of those of the same name, and some are gone.
func (c *Compiler) Update(written, gone Objects) *Policy {
	if c.policy == nil {
		*c = empty()
	}
	u := c.begin()
	for _, r := range gone.ClusterRoles {
		u.role(key{"", r.Name}, nil, false)
	}
	for _, r := range gone.Roles {
		u.role(key{r.Namespace, r.Name}, nil, false)
	}
	for _, r := range written.ClusterRoles {
		u.role(key{"", r.Name}, r.Rules, true)
	}
	for _, r := range written.Roles {
		u.role(key{r.Namespace, r.Name}, r.Rules, true)
	}
	for _, b := range gone.ClusterRoleBindings {
		u.unbind(key{"", b.Name})
	}
	for _, b := range gone.RoleBindings {
		u.unbind(key{b.Namespace, b.Name})
	}
	for _, b := range written.ClusterRoleBindings {
		u.bind(&bound{key: key{"", b.Name}, ref: b.RoleRef, subjects: b.Subjects})
	}
	for _, b := range written.RoleBindings {
		u.bind(&bound{key: key{b.Namespace, b.Name}, ref: b.RoleRef, subjects: b.Subjects})
	}
	c.policy = u.publish()
	if c.policy.rules.n > 2*c.live+unused {
		c.renumber()
	}
	return c.policy
}

// unused is how many numbers of rules may be those of no role, at least.
const unused = 1024

// renumber compiles everything, which gives each rule a number and takes the others away.
func (c *Compiler) renumber() {
	next := empty()
	u := next.begin()
	for k, r := range c.roles {
		u.role(k, r.rules, true)
	}
	for _, b := range c.bindings {
		u.bind(&bound{key: b.key, ref: b.ref, subjects: b.subjects})
	}
	next.policy = u.publish()
	*c = next
}

// refersTo is the role that a binding has, or why it can have none.
func (b *bound) refersTo() (key, error) {
	switch {
	case b.ref.Kind == "ClusterRole":
		return key{"", b.ref.Name}, nil
	case b.ref.Kind == "Role" && b.namespace != "":
		return key{b.namespace, b.ref.Name}, nil
	}
	return key{}, fmt.Errorf("unsupported role reference kind: %q", b.ref.Kind)
}

// compiled is what a binding gives with the roles that there are.
func (c *Compiler) compiled(b *bound) *binding {
	out := &binding{key: b.key}
	of, err := b.refersTo()
	if err != nil {
		out.missing = err
		return out
	}
	there, ok := c.roles[of]
	if !ok {
		kind := "clusterrole"
		if of.namespace != "" {
			kind = "role"
		}
		out.missing = apierrors.NewNotFound(rbacv1.Resource(kind), of.name)
		return out
	}
	out.first, out.last, out.rules = there.first, there.last, there.rules
	return out
}

// words are what a binding is called.
func (b *bound) words() string {
	if b.namespace == "" {
		return "ClusterRoleBinding " + strconv.Quote(b.name)
	}
	return "RoleBinding " + strconv.Quote(b.name+"/"+b.namespace)
}

// each visits the subjects of a binding, as what they are granted it and why.
func (b *bound) each(visit func(s subject, reason string)) {
	by := "RBAC: allowed by " + b.words() + " of " + b.ref.Kind + " " + strconv.Quote(b.ref.Name) + " to "
	for _, s := range b.subjects {
		switch s.Kind {
		case rbacv1.UserKind, rbacv1.GroupKind:
			visit(subject{s.Kind == rbacv1.GroupKind, s.Name}, by+s.Kind+" "+strconv.Quote(s.Name))
		case rbacv1.ServiceAccountKind:
			if in := cmp.Or(s.Namespace, b.namespace); in != "" {
				visit(subject{false, authn.ServiceAccountPrefix + in + ":" + s.Name}, by+s.Kind+" "+strconv.Quote(s.Name+"/"+in))
			}
		}
	}
}
