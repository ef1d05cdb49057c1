package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/gateway/authz"
)

// rules are the rules of all roles, numbered, and by what they name. Of a role that
// changed or is gone the numbers stay, which nobody is granted any more. They are
// immutable.
type rules struct {
	n                       int
	verbs, groups           table[ruleSet]
	resources, names        table[ruleSet]
	paths, prefixes         table[ruleSet]
	anyName                 *ruleSet // those that name no objects
	prefixLengths           []int    // of prefixes, ascending
	anyVerb, anyGroup, anyR *ruleSet
}

// addition is what is added to rules.
type addition struct {
	to                                               *rules
	n                                                int
	verbs, groups, resources, names, paths, prefixes map[string]*ruleSet
	anyName                                          *ruleSet
}

func (r *rules) adding() *addition {
	return &addition{
		to: r, n: r.n, verbs: map[string]*ruleSet{}, groups: map[string]*ruleSet{}, resources: map[string]*ruleSet{},
		names: map[string]*ruleSet{}, paths: map[string]*ruleSet{}, prefixes: map[string]*ruleSet{},
	}
}

// add numbers the rules of a role: first to before last.
func (a *addition) add(all []rbacv1.PolicyRule) (first, last int) {
	first = a.n
	for i := range all {
		a.addRule(&all[i])
	}
	return first, a.n
}

func (a *addition) addRule(one *rbacv1.PolicyRule) {
	number := a.n
	a.n++
	note := func(in map[string]*ruleSet, was *table[ruleSet], values ...string) {
		for _, v := range values {
			s := in[v]
			if s == nil {
				s = was.get(v).clone()
				in[v] = s
			}
			s.add(number)
		}
	}
	note(a.verbs, &a.to.verbs, one.Verbs...)
	note(a.groups, &a.to.groups, one.APIGroups...)
	note(a.resources, &a.to.resources, one.Resources...)
	note(a.names, &a.to.names, one.ResourceNames...)
	if len(one.ResourceNames) == 0 {
		if a.anyName == nil {
			a.anyName = a.to.anyName.clone()
		}
		a.anyName.add(number)
	}
	for _, path := range one.NonResourceURLs {
		if strings.HasSuffix(path, "*") {
			note(a.prefixes, &a.to.prefixes, strings.TrimRight(path, "*"))
		} else {
			note(a.paths, &a.to.paths, path)
		}
	}
}

// done are the rules with what was added.
func (a *addition) done() *rules {
	if a.n == a.to.n {
		return a.to
	}
	with := func(was table[ruleSet], changed map[string]*ruleSet) table[ruleSet] {
		for _, s := range changed {
			s.settle(a.n)
		}
		return was.with(changed)
	}
	next := &rules{
		n: a.n, anyName: a.to.anyName, verbs: with(a.to.verbs, a.verbs), groups: with(a.to.groups, a.groups), resources: with(a.to.resources, a.resources),
		names: with(a.to.names, a.names), paths: with(a.to.paths, a.paths), prefixes: with(a.to.prefixes, a.prefixes),
	}
	if a.anyName != nil {
		a.anyName.settle(a.n)
		next.anyName = a.anyName
	}
	next.anyVerb, next.anyGroup, next.anyR = next.verbs.get(rbacv1.VerbAll), next.groups.get(rbacv1.APIGroupAll), next.resources.get(rbacv1.ResourceAll)
	next.prefixLengths = slices.Clone(a.to.prefixLengths)
	for prefix := range a.prefixes {
		if !slices.Contains(next.prefixLengths, len(prefix)) {
			next.prefixLengths = append(next.prefixLengths, len(prefix))
		}
	}
	slices.Sort(next.prefixLengths)
	return next
}

// matching are the rules that match a request, whoever sends it.
func (r *rules) matching(a *authz.Attributes) (q question) {
	q.all[0].or(r.verbs.get(a.Verb))
	q.all[0].or(r.anyVerb)
	if !a.ResourceRequest {
		q.n = 2
		r.path(a.Path, &q.all[1])
		return q
	}
	q.n = 4
	r.resource(a, &q.all[1])
	q.all[2].or(r.groups.get(a.Group))
	q.all[2].or(r.anyGroup)
	q.all[3].or(r.anyName)
	q.all[3].or(r.names.get(a.Name))
	return q
}

func (r *rules) resource(a *authz.Attributes, into *either) {
	into.or(r.anyR)
	if a.Subresource == "" {
		into.or(r.resources.get(a.Resource))
		return
	}
	var room [96]byte // so that looking up what is joined takes no memory
	name := append(append(append(room[:0], a.Resource...), '/'), a.Subresource...)
	into.or(r.resources.joined(name))
	name = append(append(room[:0], "*/"...), a.Subresource...)
	into.or(r.resources.joined(name))
}

func (r *rules) path(path string, into *either) {
	into.or(r.paths.get(path))
	for _, n := range r.prefixLengths {
		if n > len(path) {
			return
		}
		into.or(r.prefixes.get(path[:n]))
	}
}
