package escalation

import (
	"context"
	"errors"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// mostSteps bounds how much is compared for one write, in values of rules and in rules:
// that takes half a second of a slow core.
const mostSteps = 5_000_000

// lookEvery is after how many steps it is found out whether anybody still waits.
const lookEvery = 1 << 14

var errManySteps = errors.New("comparing them takes too long")

// lacking are the single rights of rules that those held do not give, in order: those that
// validation.Covers of component-helpers finds, which compares each with every text of
// every rule, however long that takes.
func lacking(ctx context.Context, held, rules []rbacv1.PolicyRule) ([]rbacv1.PolicyRule, error) {
	c := comparison{ctx: ctx, looked: -lookEvery}
	c.number(rules)
	for i := range held {
		if !c.hold(&held[i]) {
			return nil, c.err
		}
	}
	for i := range rules {
		if c.resources(&rules[i]); !c.paths(&rules[i]) {
			return nil, c.err
		}
	}
	return c.lacks, nil
}

// axis numbers the values that rules are asked for in one of their lists.
type axis map[string]int32

func (a axis) add(list []string) {
	for _, v := range list {
		if _, known := a[v]; !known {
			a[v] = int32(len(a))
		}
	}
}

// values are those of an axis that a rule has, in order, or all there are.
type values struct {
	all  bool
	some []int32
}

func (v *values) has(n int32) bool {
	if v.all {
		return true
	}
	_, found := slices.BinarySearch(v.some, n)
	return found
}

func (v *values) none() bool { return !v.all && len(v.some) == 0 }

// holding is a rule that is held, as far as anybody asks.
type holding struct {
	verbs, groups, names, paths values
	prefixes                    []string // of paths
}

// comparison is of rules that are held with rights that are asked for.
type comparison struct {
	ctx           context.Context
	steps, looked int
	err           error

	verb, group, resource, name, path axis
	// below are the resources that are asked for by their subresource.
	below map[string][]int32
	// of are the rules that are held of each resource, and ofAll those of all.
	of            [][]*holding
	ofAll, ofPath []*holding
	some          []*holding
	lacks         []rbacv1.PolicyRule
}

// number numbers what is asked for.
func (c *comparison) number(rules []rbacv1.PolicyRule) {
	c.verb, c.group, c.resource, c.name, c.path = axis{}, axis{}, axis{}, axis{}, axis{}
	for _, r := range rules {
		c.verb.add(r.Verbs)
		c.group.add(r.APIGroups)
		c.resource.add(r.Resources)
		c.name.add(r.ResourceNames)
		c.path.add(r.NonResourceURLs)
	}
	c.of, c.below = make([][]*holding, len(c.resource)), map[string][]int32{}
	for text, n := range c.resource {
		if _, sub, ok := strings.Cut(text, "/"); ok {
			c.below[sub] = append(c.below[sub], n)
		}
	}
}

// took counts steps, and reports whether there may be more.
func (c *comparison) took(steps int) bool {
	if c.steps += steps; c.err == nil && c.steps > mostSteps {
		c.err = errManySteps
	}
	if c.err == nil && c.steps >= c.looked+lookEvery {
		c.looked, c.err = c.steps, c.ctx.Err()
	}
	return c.err == nil
}

// in are the values of a list that are asked for.
func (c *comparison) in(a axis, list []string) (out values) {
	c.took(len(list))
	for _, v := range list {
		if n, asked := a[v]; asked {
			out.some = append(out.some, n)
		}
	}
	slices.Sort(out.some)
	return out
}

// inOrAll are those of a list that may have a star, which is all of them.
func (c *comparison) inOrAll(a axis, list []string) values {
	out := c.in(a, list)
	out.all = slices.Contains(list, "*")
	return out
}

// hold adds a rule that is held.
func (c *comparison) hold(r *rbacv1.PolicyRule) bool {
	h := &holding{verbs: c.inOrAll(c.verb, r.Verbs), names: values{all: len(r.ResourceNames) == 0}}
	if h.verbs.none() || c.err != nil {
		return c.err == nil
	}
	if h.names.all && len(c.path) > 0 {
		c.holdPaths(h, r.NonResourceURLs)
	}
	if !h.names.all {
		h.names = c.in(c.name, r.ResourceNames)
	}
	if h.groups = c.inOrAll(c.group, r.APIGroups); h.groups.none() || h.names.none() {
		return c.err == nil
	}
	if c.took(len(r.Resources)); slices.Contains(r.Resources, rbacv1.ResourceAll) {
		c.ofAll = append(c.ofAll, h)
		return c.err == nil
	}
	for _, text := range r.Resources {
		if n, asked := c.resource[text]; asked {
			c.of[n] = append(c.of[n], h)
		}
		sub, ok := strings.CutPrefix(text, "*/")
		if !ok {
			continue
		}
		if !c.took(len(c.below[sub])) {
			return false
		}
		for _, n := range c.below[sub] {
			c.of[n] = append(c.of[n], h)
		}
	}
	return c.err == nil
}

// holdPaths adds the paths of a rule.
func (c *comparison) holdPaths(h *holding, paths []string) {
	h.paths = c.in(c.path, paths)
	for _, path := range paths {
		if strings.HasSuffix(path, "*") {
			h.prefixes = append(h.prefixes, strings.TrimRight(path, "*"))
		}
	}
	if len(h.prefixes) > 0 || !h.paths.none() {
		c.ofPath = append(c.ofPath, h)
	}
}

// resources finds what is lacking of a rule of resources.
func (c *comparison) resources(r *rbacv1.PolicyRule) {
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				anyName := c.match(c.verb[verb], c.group[group], c.resource[resource])
				if c.err != nil {
					return
				}
				right := rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
				if len(r.ResourceNames) == 0 && !anyName {
					c.lacks = append(c.lacks, right)
				}
				for _, name := range r.ResourceNames {
					if !anyName && !c.named(c.name[name]) {
						right.ResourceNames = []string{name}
						c.lacks = append(c.lacks, right)
					}
				}
			}
		}
	}
}

// match finds the rules of a verb, a group and a resource, and reports whether one of them
// is of all names.
func (c *comparison) match(verb, group, resource int32) (anyName bool) {
	c.some = c.some[:0]
	for _, list := range [][]*holding{c.ofAll, c.of[resource]} {
		for _, h := range list {
			if c.took(1); c.err != nil {
				return false
			}
			if h.verbs.has(verb) && h.groups.has(group) {
				c.some = append(c.some, h)
				anyName = anyName || h.names.all
			}
		}
	}
	return anyName
}

// named reports whether one of these rules is of a name.
func (c *comparison) named(name int32) bool {
	return slices.ContainsFunc(c.some, func(h *holding) bool { return !c.took(1) || h.names.has(name) })
}

// paths finds what is lacking of a rule of paths.
func (c *comparison) paths(r *rbacv1.PolicyRule) bool {
	for _, path := range r.NonResourceURLs {
		for _, verb := range r.Verbs {
			if !slices.ContainsFunc(c.ofPath, func(h *holding) bool { return c.leads(h, c.verb[verb], path) }) {
				c.lacks = append(c.lacks, rbacv1.PolicyRule{NonResourceURLs: []string{path}, Verbs: []string{verb}})
			}
			if c.err != nil {
				return false
			}
		}
	}
	return c.err == nil
}

// leads reports whether a rule is of a path.
func (c *comparison) leads(h *holding, verb int32, path string) bool {
	if !c.took(1 + len(h.prefixes)) {
		return true // which is told as the error that it is
	}
	return h.verbs.has(verb) && (h.paths.has(c.path[path]) || slices.ContainsFunc(h.prefixes, func(p string) bool { return strings.HasPrefix(path, p) }))
}
