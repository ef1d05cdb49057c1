package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/gateway/authz"
)

// rules are the rules of all roles, numbered, and by what they name.
type rules struct {
	n                       int
	verbs, groups           map[string]*ruleSet
	resources, names        map[string]*ruleSet
	anyName                 *ruleSet // those that name no objects
	paths, prefixes         map[string]*ruleSet
	prefixLengths           []int // of prefixes, ascending
	anyVerb, anyGroup, anyR *ruleSet
}

func newRules() *rules {
	return &rules{
		verbs: map[string]*ruleSet{}, groups: map[string]*ruleSet{}, resources: map[string]*ruleSet{}, names: map[string]*ruleSet{},
		anyName: &ruleSet{}, paths: map[string]*ruleSet{}, prefixes: map[string]*ruleSet{},
	}
}

// add numbers the rules of a role: first to before last.
func (r *rules) add(all []rbacv1.PolicyRule) (first, last int) {
	first = r.n
	for i := range all {
		r.addRule(&all[i])
	}
	return first, r.n
}

func (r *rules) addRule(one *rbacv1.PolicyRule) {
	number := r.n
	r.n++
	note := func(in map[string]*ruleSet, values []string) {
		for _, v := range values {
			s := in[v]
			if s == nil {
				s = &ruleSet{}
				in[v] = s
			}
			s.add(number)
		}
	}
	note(r.verbs, one.Verbs)
	note(r.groups, one.APIGroups)
	note(r.resources, one.Resources)
	note(r.names, one.ResourceNames)
	if len(one.ResourceNames) == 0 {
		r.anyName.add(number)
	}
	for _, path := range one.NonResourceURLs {
		if strings.HasSuffix(path, "*") {
			note(r.prefixes, []string{strings.TrimRight(path, "*")})
		} else {
			note(r.paths, []string{path})
		}
	}
}

// settle ends the additions.
func (r *rules) settle() {
	for _, sets := range []map[string]*ruleSet{r.verbs, r.groups, r.resources, r.names, r.paths, r.prefixes} {
		for _, s := range sets {
			s.settle(r.n)
		}
	}
	r.anyName.settle(r.n)
	r.anyVerb, r.anyGroup, r.anyR = r.verbs[rbacv1.VerbAll], r.groups[rbacv1.APIGroupAll], r.resources[rbacv1.ResourceAll]
	for prefix := range r.prefixes {
		if !slices.Contains(r.prefixLengths, len(prefix)) {
			r.prefixLengths = append(r.prefixLengths, len(prefix))
		}
	}
	slices.Sort(r.prefixLengths)
}

// matching are the rules that match a request, whoever sends it.
func (r *rules) matching(a *authz.Attributes) (q question) {
	q.all[0].or(r.verbs[a.Verb])
	q.all[0].or(r.anyVerb)
	if !a.ResourceRequest {
		q.n = 2
		r.path(a.Path, &q.all[1])
		return q
	}
	q.n = 4
	r.resource(a, &q.all[1])
	q.all[2].or(r.groups[a.Group])
	q.all[2].or(r.anyGroup)
	q.all[3].or(r.anyName)
	q.all[3].or(r.names[a.Name])
	return q
}

func (r *rules) resource(a *authz.Attributes, into *either) {
	into.or(r.anyR)
	if a.Subresource == "" {
		into.or(r.resources[a.Resource])
		return
	}
	var room [96]byte // so that looking up what is joined takes no memory
	name := append(append(append(room[:0], a.Resource...), '/'), a.Subresource...)
	into.or(r.resources[string(name)])
	name = append(append(room[:0], "*/"...), a.Subresource...)
	into.or(r.resources[string(name)])
}

func (r *rules) path(path string, into *either) {
	into.or(r.paths[path])
	for _, n := range r.prefixLengths {
		if n > len(path) {
			return
		}
		into.or(r.prefixes[path[:n]])
	}
}
