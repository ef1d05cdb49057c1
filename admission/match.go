package admission

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
)

// match tells whether the webhook is asked about a request, and at which
// version: "" for not at all.
func (h *Hook) match(ctx context.Context, r *Request) (version string, err error) {
	if h.spares(r) {
		return "", nil
	}
	if version, err = h.scope.Match(ctx, r); err != nil || version == "" || h.conditions == nil {
		return version, err
	}
	if met, err := h.meets(ctx, r, version); err != nil || !met {
		return "", err
	}
	return version, nil
}

// IsNamespace tells that the request is about a Namespace itself.
func (r *Request) IsNamespace() bool {
	return r.Resource.Group == "" && r.Resource.Resource == "namespaces"
}

// namespaceLabels are the labels of the request's namespace; of one that is
// being written, the new ones.
func (r *Request) namespaceLabels(ctx context.Context) (labels.Set, error) {
	if r.IsNamespace() && r.Subresource == "" && r.Operation != Delete {
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

func (r *Request) matches(rule *admissionv1.NamedRuleWithOperations, version string) bool {
	at := r.At(version)
	return (len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, r.Name)) && r.inScope(rule.Scope) && has(rule.Operations, admissionv1.OperationType(r.Operation)) &&
		has(rule.APIGroups, at.Group) && has(rule.APIVersions, at.Version) && r.named(rule.Resources)
}

// inScope takes namespaces for what is in none.
func (r *Request) inScope(scope *admissionv1.ScopeType) bool {
	if scope == nil {
		return true
	}
	cluster := r.IsNamespace() || r.Namespace == ""
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
