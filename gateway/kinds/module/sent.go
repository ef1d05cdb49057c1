package module

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Sent is a piece of what a module is sent: all of one kind, of which every constraint may
// leave some out.
type Sent struct {
	// group is one whose versions are ordered, rule of a webhook, whichever it is.
	group string
	rule  *rule
	only  []constraint
}

// rule is what a rule of a webhook matches: everything that is in each of its lists.
type rule struct{ operations, groups, versions, resources, scope []string }

// constraint is one of those that all have to hold: a term of a selector, a condition or a
// policy.
type constraint struct {
	of, key, operator string
	values            []string
}

// Within reports whether all that s stands for is among what one of others does.
func (s Sent) Within(others []Sent) bool {
	return slices.ContainsFunc(others, s.within)
}

func (s Sent) within(o Sent) bool {
	if s.group != o.group || (s.rule == nil) != (o.rule == nil) || s.rule != nil && !s.rule.within(o.rule) {
		return false
	}
	for _, c := range o.only {
		if !slices.ContainsFunc(s.only, func(mine constraint) bool { return mine.implies(c) }) {
			return false
		}
	}
	return true
}

func (r *rule) within(o *rule) bool {
	any := func(e string, all []string) bool { return slices.Contains(all, "*") }
	resources := func(e string, all []string) bool {
		return slices.Contains(all, "*/*") || e != "*/*" && !strings.Contains(e, "/") && slices.Contains(all, "*")
	}
	for _, list := range []struct {
		mine, theirs []string
		wild         func(string, []string) bool
	}{
		{r.operations, o.operations, any}, {r.groups, o.groups, any}, {r.versions, o.versions, any}, {r.resources, o.resources, resources}, {r.scope, o.scope, any},
	} {
		for _, e := range list.mine {
			if !slices.Contains(list.theirs, e) && !list.wild(e, list.theirs) {
				return false
			}
		}
	}
	return true
}

// implies reports whether o holds wherever c does.
func (c constraint) implies(o constraint) bool {
	if c.of != o.of || c.key != o.key {
		return false
	}
	const in, notIn, exists, absent = string(metav1.LabelSelectorOpIn), string(metav1.LabelSelectorOpNotIn), string(metav1.LabelSelectorOpExists), string(metav1.LabelSelectorOpDoesNotExist)
	all := func(values, among []string) bool {
		return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(among, v) })
	}
	switch o.operator {
	case in:
		return c.operator == in && all(c.values, o.values)
	case notIn:
		return c.operator == absent || c.operator == notIn && all(o.values, c.values) ||
			c.operator == in && !slices.ContainsFunc(c.values, func(v string) bool { return slices.Contains(o.values, v) })
	case exists:
		return c.operator == exists || c.operator == in
	}
	return c.operator == o.operator
}

// sentTo is what a webhook is sent: by each of its rules, what its selectors and conditions
// leave.
func sentTo(hook map[string]any) (pieces []Sent) {
	var only []constraint
	for _, of := range []string{"namespaceSelector", "objectSelector"} {
		selector, _ := hook[of].(map[string]any)
		only = append(only, terms(of, selector)...)
	}
	conditions, _ := hook["matchConditions"].([]any)
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		expression, _ := condition["expression"].(string)
		only = append(only, constraint{of: "matchConditions", key: expression})
	}
	if policy, _ := hook["matchPolicy"].(string); policy == "Exact" {
		only = append(only, constraint{of: "matchPolicy", key: policy})
	}
	rules, _ := hook["rules"].([]any)
	for _, r := range rules {
		said, _ := r.(map[string]any)
		one := &rule{texts(said["operations"]), texts(said["apiGroups"]), texts(said["apiVersions"]), texts(said["resources"]), []string{"*"}}
		if scope, _ := said["scope"].(string); scope != "" {
			one.scope = []string{scope}
		}
		pieces = append(pieces, Sent{rule: one, only: only})
	}
	return pieces
}

// terms are those of a selector of labels.
func terms(of string, selector map[string]any) (all []constraint) {
	labels, _ := selector["matchLabels"].(map[string]any)
	for key, value := range labels {
		all = append(all, constraint{of: of, key: key, operator: string(metav1.LabelSelectorOpIn), values: texts([]any{value})})
	}
	expressions, _ := selector["matchExpressions"].([]any)
	for _, e := range expressions {
		term, _ := e.(map[string]any)
		key, _ := term["key"].(string)
		operator, _ := term["operator"].(string)
		all = append(all, constraint{of: of, key: key, operator: operator, values: texts(term["values"])})
	}
	return all
}

// texts are the texts of a list; what is none is as JSON has it, so that it is no other.
func texts(list any) (all []string) {
	items, _ := list.([]any)
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			encoded, _ := json.Marshal(item)
			text = string(encoded)
		}
		all = append(all, text)
	}
	return all
}
