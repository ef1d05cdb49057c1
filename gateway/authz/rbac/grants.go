package rbac

import (
	"cmp"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// key is a namespace, "" for what is of the cluster, and a name.
type key struct{ namespace, name string }

// before is the order of bindings: those of the cluster first, then by name.
func (k key) before(other key) int {
	return cmp.Or(cmp.Compare(k.namespace, other.namespace), cmp.Compare(k.name, other.name))
}

// binding is what one binding gives: a role, which may be missing. It is immutable.
type binding struct {
	key
	first, last int // the numbers of the role's rules
	rules       []rbacv1.PolicyRule
	missing     error
}

// grant is a binding as one subject has it.
type grant struct {
	*binding
	// reason says by what the subject is allowed what the role allows.
	reason string
}

// grants are what one subject is granted, in the cluster or in a namespace. They are
// immutable.
type grants struct {
	all   []grant // by the first of their rules
	rules ruleSet
	// missing are the bindings whose role is not there.
	missing []grant
}

// with are the grants without some bindings and with others; nil when none are left.
func (g *grants) with(dropped map[*binding]bool, added []grant) *grants {
	next := &grants{}
	for _, one := range added {
		next.add(one)
	}
	if g != nil {
		for _, some := range [][]grant{g.all, g.missing} {
			for _, one := range some {
				if !dropped[one.binding] {
					next.add(one)
				}
			}
		}
	}
	if len(next.all)+len(next.missing) == 0 {
		return nil
	}
	next.settle()
	return next
}

func (g *grants) add(one grant) {
	if one.binding.missing != nil {
		g.missing = append(g.missing, one)
		return
	}
	if one.first < one.last {
		g.all = append(g.all, one)
	}
}

// settle ends the additions.
func (g *grants) settle() {
	slices.SortFunc(g.all, func(a, b grant) int { return cmp.Or(cmp.Compare(a.first, b.first), a.before(b.key)) })
	next := 0
	for _, one := range g.all {
		for rule := max(next, one.first); rule < one.last; rule++ {
			g.rules.add(rule)
		}
		next = max(next, one.last)
	}
	g.all, g.rules.at, g.rules.bits = slices.Clip(g.all), slices.Clip(g.rules.at), slices.Clip(g.rules.bits)
}

// allows returns the reason of the grant that answers a question with yes.
func (g *grants) allows(q *question) (reason string, yes bool) {
	if g == nil {
		return "", false
	}
	for i, at := range g.rules.at {
		if rule, found := q.among(at, g.rules.bits[i]); found {
			return g.of(rule).reason, true
		}
	}
	return "", false
}

// of is the first grant of the role that has a rule.
func (g *grants) of(rule int) grant {
	i, _ := slices.BinarySearchFunc(g.all, rule, func(one grant, rule int) int {
		if one.last <= rule {
			return -1
		}
		return 1
	})
	return g.all[i]
}

// scope is what all subjects are granted in one place. A service account is the user
// that it counts as. It is immutable.
type scope struct{ users, groups table[grants] }

// each visits what there is to be visited of a scope, which may be nil.
func (s *scope) each(user string, groups []string, visit func(*grants)) {
	if s == nil {
		return
	}
	if g := s.users.get(user); g != nil {
		visit(g)
	}
	for _, group := range groups {
		if g := s.groups.get(group); g != nil {
			visit(g)
		}
	}
}
