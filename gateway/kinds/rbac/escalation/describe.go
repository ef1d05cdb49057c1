package escalation

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// describe lists rules, a line for each. Those that differ in their verbs alone are one.
func describe(rules []rbacv1.PolicyRule) string {
	type about struct{ group, resource, name string }
	together := map[about]int{}
	var merged []rbacv1.PolicyRule
	for _, r := range rules {
		if len(r.APIGroups) != 1 || len(r.Resources) != 1 || len(r.ResourceNames) > 1 || len(r.NonResourceURLs) > 0 {
			merged = append(merged, r)
			continue
		}
		key := about{group: r.APIGroups[0], resource: r.Resources[0]}
		if len(r.ResourceNames) > 0 {
			key.name = "=" + r.ResourceNames[0] // one of no name is not one of all
		}
		if i, ok := together[key]; ok {
			merged[i].Verbs = append(slices.Clip(merged[i].Verbs), r.Verbs...)
			continue
		}
		together[key] = len(merged)
		merged = append(merged, r)
	}
	lines := make([]string, len(merged))
	for i, r := range merged {
		lines[i] = line(r)
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

// line is a rule without what it does not say.
func line(r rbacv1.PolicyRule) string {
	var parts []string
	for _, p := range []struct {
		name string
		list []string
	}{{"APIGroups", r.APIGroups}, {"Resources", r.Resources}, {"NonResourceURLs", r.NonResourceURLs}, {"ResourceNames", r.ResourceNames}, {"Verbs", r.Verbs}} {
		if len(p.list) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", p.name, p.list))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
