package admission

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Scope is which requests a webhook, a policy or a binding is about, compiled.
// It is immutable.
type Scope struct {
	rules, excluded []admissionv1.NamedRuleWithOperations
	everything      bool // there are no rules
	exact           bool // matchPolicy
	namespaces      labels.Selector
	objects         labels.Selector
	// unselectable is why the selectors cannot be used.
	unselectable error
}

// NewScope compiles what a policy or a binding is about: everything that its
// selectors select, if it has no rules. m is not changed.
func NewScope(m *admissionv1.MatchResources) *Scope {
	s := &Scope{
		rules: m.ResourceRules, excluded: m.ExcludeResourceRules, everything: len(m.ResourceRules) == 0,
		exact: m.MatchPolicy == nil || *m.MatchPolicy == admissionv1.Exact,
	}
	s.namespaces, s.unselectable = selector(m.NamespaceSelector)
	if s.unselectable == nil {
		s.objects, s.unselectable = selector(m.ObjectSelector)
	}
	return s
}

// NewHookScope compiles what a webhook is about, which without rules is nothing.
func NewHookScope(w *admissionv1.MutatingWebhook) *Scope {
	m := &admissionv1.MatchResources{NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, MatchPolicy: w.MatchPolicy}
	for _, r := range w.Rules {
		m.ResourceRules = append(m.ResourceRules, admissionv1.NamedRuleWithOperations{RuleWithOperations: r})
	}
	s := NewScope(m)
	s.everything, s.exact = false, w.MatchPolicy != nil && s.exact
	return s
}

// selector selects everything when there is none.
func selector(s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(s)
}

// About tells whether a rule may match a request for the resource, by any of the
// groups that serve it, at all.
func (s *Scope) About(groups []string, resource string) bool {
	return s.everything || slices.ContainsFunc(s.rules, func(r admissionv1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(groups, func(group string) bool { return has(r.APIGroups, group) }) && slices.ContainsFunc(r.Resources, func(text string) bool {
			name, _, _ := strings.Cut(text, "/")
			return name == "*" || name == resource
		})
	})
}

// has tells whether a list of a rule names what is asked for.
func has[T ~string](list []T, want T) bool {
	return slices.Contains(list, "*") || slices.Contains(list, want)
}

// Match tells whether the request is meant, and at which version: "" for not at
// all. An error is one of the selectors of a request that the rules mean.
func (s *Scope) Match(ctx context.Context, a Attributes) (version string, err error) {
	if s.ofRules(s.excluded, a) != "" {
		return "", nil
	}
	if version = a.GetResource().Version; !s.everything {
		version = s.ofRules(s.rules, a)
	}
	if version == "" {
		return "", nil
	}
	if selected, err := s.selects(ctx, a); err != nil || !selected {
		return "", err
	}
	return version, nil
}

// ofRules returns the version at which a rule matches: that of the request if
// any rule does, else the first that a rule has, if an equivalent will do.
func (s *Scope) ofRules(rules []admissionv1.NamedRuleWithOperations, a Attributes) string {
	own := a.GetResource().Version
	for i := range rules {
		if matches(&rules[i], a, own) {
			return own
		}
	}
	if s.exact || len(rules) == 0 {
		return ""
	}
	others := a.GetVersions()
	for i := range rules {
		for _, v := range others {
			if matches(&rules[i], a, v) {
				return v
			}
		}
	}
	return ""
}

// selects asks the selectors.
func (s *Scope) selects(ctx context.Context, a Attributes) (bool, error) {
	if s.unselectable != nil {
		return false, apierrors.NewInternalError(s.unselectable)
	}
	if !s.objects.Empty() {
		states, err := a.GetLabels()
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(states, func(set labels.Set) bool { return s.objects.Matches(set) }) {
			return false, nil
		}
	}
	// What is in no namespace, and is none, is never exempted.
	if s.namespaces.Empty() || a.GetNamespace() == "" && !IsNamespace(a) {
		return true, nil
	}
	set, err := namespaceLabels(ctx, a)
	if err != nil {
		return false, err
	}
	return s.namespaces.Matches(set), nil
}

// namespaceLabels are the labels of the request's namespace; of one that is
// being written, the new ones.
func namespaceLabels(ctx context.Context, a Attributes) (labels.Set, error) {
	if IsNamespace(a) && a.GetSubresource() == "" && a.GetOperation() != Delete {
		states, err := a.GetLabels()
		if err != nil || len(states) == 0 {
			return nil, err
		}
		return states[0], nil
	}
	set, err := a.GetNamespaceLabels(ctx, a.GetNamespace())
	if err != nil && !apierrors.IsNotFound(err) {
		err = apierrors.NewInternalError(err)
	}
	return set, err
}

// matches reports whether a rule means a request at a version.
func matches(rule *admissionv1.NamedRuleWithOperations, a Attributes, version string) bool {
	at := ResourceAt(a, version)
	return (len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.GetName())) && inScope(rule.Scope, a) && has(rule.Operations, admissionv1.OperationType(a.GetOperation())) &&
		has(rule.APIGroups, at.Group) && has(rule.APIVersions, at.Version) && named(rule.Resources, a)
}

// inScope takes namespaces for what is in none.
func inScope(scope *admissionv1.ScopeType, a Attributes) bool {
	if scope == nil {
		return true
	}
	cluster := IsNamespace(a) || a.GetNamespace() == ""
	switch *scope {
	case admissionv1.AllScopes:
		return true
	case admissionv1.ClusterScope:
		return cluster
	case admissionv1.NamespacedScope:
		return !cluster
	}
	return false
}

// named reports whether the resources of a rule name that of a request.
func named(resources []string, r Resource) bool {
	resource, subresource := r.GetResource().Resource, r.GetSubresource()
	for _, s := range resources {
		name, sub, _ := strings.Cut(s, "/")
		if (name == "*" || name == resource) && (sub == "*" || sub == subresource) {
			return true
		}
	}
	return false
}
