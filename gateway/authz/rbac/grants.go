package rbac

import (
	"cmp"
	"slices"
)

// binding is what one binding gives: a role, which may be missing.
type binding struct {
	// order is the place among all bindings: those of the cluster first, by name.
	order       int
	first, last int // the rules of the role
	missing     error
}

// grant is a binding as one subject has it.
type grant struct {
	*binding
	// reason says by what the subject is allowed what the role allows.
	reason string
}

// grants are what one subject is granted, in the cluster or in a namespace.
type grants struct {
	all   []grant // by the first of their rules
	rules ruleSet
	// missing are the bindings whose role is not there.
	missing []*binding
}

func (g *grants) add(one grant) {
	if one.missing != nil {
		g.missing = append(g.missing, one.binding)
		return
	}
	if one.first < one.last {
		g.all = append(g.all, one)
	}
}

// settle ends the additions.
func (g *grants) settle() {
	slices.SortStableFunc(g.all, func(a, b grant) int { return cmp.Compare(a.first, b.first) })
	next := 0
	for _, one := range g.all {
		for rule := max(next, one.first); rule < one.last; rule++ {
			g.rules.add(rule)
		}
		next = max(next, one.last)
	}
	g.all = slices.Clip(g.all)
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
// that it counts as.
type scope struct{ users, groups map[string]*grants }

func newScope() *scope { return &scope{map[string]*grants{}, map[string]*grants{}} }

func (s *scope) settle() {
	for _, subjects := range []map[string]*grants{s.users, s.groups} {
		for _, g := range subjects {
			g.settle()
		}
	}
}

// add grants to a subject.
func add(subjects map[string]*grants, name string, one grant) {
	g := subjects[name]
	if g == nil {
		g = &grants{}
		subjects[name] = g
	}
	g.add(one)
}
