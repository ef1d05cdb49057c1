package rbac

import (
	"reflect"

	rbacv1 "k8s.io/api/rbac/v1"
)

// update is the way from one policy to the next.
type update struct {
	*Compiler
	rules *addition
	// again are the bindings to be compiled, and dropped what was compiled of these and of
	// those that are gone.
	again   map[*bound]bool
	dropped map[*binding]bool
	// within are the changes of each scope, by its namespace.
	within map[string]changes
}

// begin begins one.
func (c *Compiler) begin() *update {
	return &update{Compiler: c, rules: c.policy.rules.adding(), again: map[*bound]bool{}, dropped: map[*binding]bool{}, within: map[string]changes{}}
}

// subject is a user or a group.
type subject struct {
	group bool
	name  string
}

// changes are those of one scope: what is added to the grants of subjects. One without
// additions loses some.
type changes map[subject][]grant

// role has a role with these rules, or none.
func (u *update) role(k key, all []rbacv1.PolicyRule, there bool) {
	was, known := u.roles[k]
	if known == there && reflect.DeepEqual(was.rules, all) {
		return
	}
	u.live -= was.last - was.first
	delete(u.roles, k)
	if there {
		first, last := u.rules.add(all)
		u.roles[k] = numbered{all, first, last}
		u.live += last - first
	}
	for b := range u.bound[k] {
		u.again[b] = true
	}
}

// unbind forgets a binding.
func (u *update) unbind(k key) {
	b := u.bindings[k]
	if b == nil {
		return
	}
	u.drop(b)
	delete(u.bindings, k)
	delete(u.again, b)
	delete(u.bound[b.role], b)
	if len(u.bound[b.role]) == 0 {
		delete(u.bound, b.role)
	}
}

// bind has a binding in place of another of its name, if there is one.
func (u *update) bind(b *bound) {
	if was := u.bindings[b.key]; was != nil {
		if was.ref == b.ref && reflect.DeepEqual(was.subjects, b.subjects) {
			return
		}
		u.unbind(b.key)
	}
	u.bindings[b.key], u.again[b] = b, true
	b.role, _ = b.refersTo() // the role of no name, which there is not, has those that can have none
	if u.bound[b.role] == nil {
		u.bound[b.role] = map[*bound]bool{}
	}
	u.bound[b.role][b] = true
}

// drop takes away what is compiled of a binding.
func (u *update) drop(b *bound) {
	if b.now == nil {
		return
	}
	u.dropped[b.now], b.now = true, nil
	at := u.at(b.namespace)
	b.each(func(s subject, _ string) {
		if _, there := at[s]; !there {
			at[s] = nil
		}
	})
}

func (u *update) at(namespace string) changes {
	at := u.within[namespace]
	if at == nil {
		at = changes{}
		u.within[namespace] = at
	}
	return at
}

// publish makes the policy.
func (u *update) publish() *Policy {
	for b := range u.again {
		u.drop(b)
		b.now = u.compiled(b)
		at := u.at(b.namespace)
		b.each(func(s subject, reason string) { at[s] = append(at[s], grant{b.now, reason}) })
	}
	next := &Policy{rules: u.rules.done(), cluster: u.policy.cluster, within: u.policy.within}
	changed := map[string]*scope{}
	for namespace, at := range u.within {
		if namespace == "" {
			next.cluster = u.scope(u.policy.cluster, at)
			continue
		}
		changed[namespace] = u.scope(u.policy.within.get(namespace), at)
	}
	next.within = next.within.with(changed)
	return next
}

// scope is a scope with its changes, which is nil once nobody is granted anything.
func (u *update) scope(was *scope, at changes) *scope {
	if was == nil {
		was = &scope{}
	}
	users, groups := map[string]*grants{}, map[string]*grants{}
	for s, added := range at {
		if s.group {
			groups[s.name] = was.groups.get(s.name).with(u.dropped, added)
		} else {
			users[s.name] = was.users.get(s.name).with(u.dropped, added)
		}
	}
	next := &scope{was.users.with(users), was.groups.with(groups)}
	if next.users.n+next.groups.n == 0 {
		return nil
	}
	return next
}
