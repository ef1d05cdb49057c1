package admission

import (
	"context"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
)

// match tells whether the webhook is asked about a request, and at which
// version: "" for not at all.
func (h *Hook) match(ctx context.Context, r *Request) (version string, err error) {
	if version = h.matchRules(r); version == "" || h.spares(r) {
		return "", nil
	}
	if selected, err := h.selects(ctx, r); err != nil || !selected {
		return "", err
	}
	if h.conditions == nil {
		return version, nil
	}
	if met, err := h.meets(ctx, r, version); err != nil || !met {
		return "", err
	}
	return version, nil
}

// selects asks the selectors.
func (h *Hook) selects(ctx context.Context, r *Request) (bool, error) {
	if h.unselectable != nil {
		return false, apierrors.NewInternalError(h.unselectable)
	}
	if !h.objects.Empty() {
		states, err := r.Objects.Labels()
		if err != nil {
			return false, err
		}
		selected := false
		for _, s := range states {
			selected = selected || h.objects.Matches(s)
		}
		if !selected {
			return false, nil
		}
	}
	// What is in no namespace, and is none, is never exempted.
	if h.namespaces.Empty() || r.Namespace == "" && !r.isNamespace() {
		return true, nil
	}
	set, err := r.namespaceLabels(ctx)
	if err != nil {
		return false, err
	}
	return h.namespaces.Matches(set), nil
}

func (r *Request) isNamespace() bool {
	return r.Resource.Group == "" && r.Resource.Resource == "namespaces"
}

// namespaceLabels are the labels of the request's namespace; of one that is
// being written, the new ones.
func (r *Request) namespaceLabels(ctx context.Context) (labels.Set, error) {
	if r.isNamespace() && r.Subresource == "" && r.Operation != Delete {
		states, err := r.Objects.Labels()
		if err != nil || len(states) == 0 {
			return nil, err
		}
		return states[0], nil
	}
	set, err := r.Namespaces.Labels(ctx, r.Namespace)
	if err != nil && !apierrors.IsNotFound(err) {
		err = apierrors.NewInternalError(err)
	}
	return set, err
}

// matchRules returns the version at which a rule matches: that of the request
// if any rule does, else the first that a rule has, if an equivalent will do.
func (h *Hook) matchRules(r *Request) string {
	for i := range h.rules {
		if r.matches(&h.rules[i], r.Resource.Version) {
			return r.Resource.Version
		}
	}
	if h.exact {
		return ""
	}
	for i := range h.rules {
		for _, v := range r.Versions {
			if r.matches(&h.rules[i], v) {
				return v
			}
		}
	}
	return ""
}

func (r *Request) matches(rule *admissionv1.RuleWithOperations, version string) bool {
	return r.inScope(rule.Scope) && has(rule.Operations, admissionv1.OperationType(r.Operation)) &&
		has(rule.APIGroups, r.Resource.Group) && has(rule.APIVersions, version) && r.named(rule.Resources)
}

// inScope takes namespaces for what is in none.
func (r *Request) inScope(scope *admissionv1.ScopeType) bool {
	if scope == nil {
		return true
	}
	cluster := r.isNamespace() || r.Namespace == ""
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

func (r *Request) named(resources []string) bool {
	for _, s := range resources {
		name, sub, _ := strings.Cut(s, "/")
		if (name == "*" || name == r.Resource.Resource) && (sub == "*" || sub == r.Subresource) {
			return true
		}
	}
	return false
}
