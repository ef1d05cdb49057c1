package extend

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// The resources without a prefix of their own that quotas may limit: those that
// pods compute with, and those that are counted.
var (
	computedResources = sets.New[corev1.ResourceName]("cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage")
	countedResources  = sets.New[corev1.ResourceName]("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps", "services.nodeports", "services.loadbalancers")
	// otherResources are standard ones that no quota limits.
	otherResources = sets.New[corev1.ResourceName]("storage")
)

// validateQuota refuses resources that are none, and scopes that say nothing of
// them.
func validateQuota(subresource string, obj, _ map[string]any) (errs field.ErrorList) {
	q := new(corev1.ResourceQuota)
	if object.ToTyped(obj, q) != nil {
		return nil // the schema says why
	}
	type limits struct {
		path *field.Path
		list corev1.ResourceList
	}
	lists := []limits{{field.NewPath("spec", "hard"), q.Spec.Hard}}
	if subresource == "status" {
		lists = []limits{{field.NewPath("status", "hard"), q.Status.Hard}, {field.NewPath("status", "used"), q.Status.Used}}
	}
	for _, l := range lists {
		for _, name := range slices.Sorted(maps.Keys(l.list)) {
			at := l.path.Key(string(name))
			errs = append(errs, validateQuotaResource(at, name)...)
			errs = append(errs, validateAmount(at, name, l.list[name])...)
		}
	}
	if subresource == "status" {
		return errs
	}
	return append(errs, validateScopes(&q.Spec)...)
}

func validateQuotaResource(path *field.Path, name corev1.ResourceName) (errs field.ErrorList) {
	for _, why := range validation.IsQualifiedName(string(name)) {
		errs = append(errs, field.Invalid(path, name, why))
	}
	if strings.Contains(string(name), "/") || isHugePages(name) || computedResources.Has(name) || countedResources.Has(name) || name == "requests.storage" {
		return errs
	}
	if len(errs) == 0 && !otherResources.Has(name) {
		errs = append(errs, field.Invalid(path, name, "must be a standard resource type or fully qualified"))
	}
	return append(errs, field.Invalid(path, name, "must be a standard resource for quota"))
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(strings.TrimPrefix(string(name), "requests."), corev1.ResourceHugePagesPrefix)
}

// validateAmount refuses amounts that there cannot be.
func validateAmount(path *field.Path, name corev1.ResourceName, q resource.Quantity) (errs field.ErrorList) {
	if q.Sign() < 0 {
		errs = append(errs, invalidQuantity(path, q, "must be greater than or equal to 0"))
	}
	if (countedResources.Has(name) || isExtended(name)) && q.MilliValue()%1000 != 0 {
		errs = append(errs, invalidQuantity(path, q, "must be an integer"))
	}
	return errs
}

// isExtended tells whether a resource is one that others define, which there are whole ones
// of; a quota of requests for it is no such resource.
func isExtended(name corev1.ResourceName) bool {
	const requests = corev1.DefaultResourceRequestsPrefix
	return !isNative(name) && !strings.HasPrefix(string(name), requests) && len(validation.IsQualifiedName(requests+string(name))) == 0
}

// existing are the scopes of which objects either are or are not.
var existing = []corev1.ResourceQuotaScope{"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity"}

const mustExist = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"

func isScope(s corev1.ResourceQuotaScope) bool {
	return slices.Contains(existing, s) || s == "PriorityClass" || s == "VolumeAttributesClass"
}

func validateScopes(s *corev1.ResourceQuotaSpec) (errs field.ErrorList) {
	path := field.NewPath("spec", "scopes")
	for _, scope := range s.Scopes {
		if !isScope(scope) {
			errs = append(errs, field.Invalid(path, s.Scopes, "unsupported scope"))
		}
		if !scopeFits(scope, s.Hard) {
			errs = append(errs, field.Invalid(path, s.Scopes, "unsupported scope applied to resource"))
		}
	}
	if conflicting(s.Scopes) {
		errs = append(errs, field.Invalid(path, s.Scopes, "conflicting scopes"))
	}
	if s.ScopeSelector == nil {
		return errs
	}
	path = field.NewPath("spec", "scopeSelector", "matchExpressions")
	var scopes []corev1.ResourceQuotaScope
	for _, r := range s.ScopeSelector.MatchExpressions {
		scopes = append(scopes, r.ScopeName)
		if !isScope(r.ScopeName) {
			errs = append(errs, field.Invalid(path.Child("scopeName"), r.ScopeName, "unsupported scope"))
		}
		if !scopeFits(r.ScopeName, s.Hard) {
			errs = append(errs, field.Invalid(path, shownSelector(s.ScopeSelector), "unsupported scope applied to resource"))
		}
		errs = append(errs, validateScopeOperator(path, r)...)
	}
	if conflicting(scopes) {
		errs = append(errs, field.Invalid(path, s.Scopes, "conflicting scopes"))
	}
	return errs
}

// shownSelector is a selector of scopes as kube-apiserver shows it.
func shownSelector(s *corev1.ScopeSelector) any {
	type expression struct {
		ScopeName corev1.ResourceQuotaScope
		Operator  corev1.ScopeSelectorOperator
		Values    []string
	}
	all := make([]expression, len(s.MatchExpressions))
	for i, r := range s.MatchExpressions {
		all[i] = expression{r.ScopeName, r.Operator, r.Values}
	}
	return struct{ MatchExpressions []expression }{all}
}

func validateScopeOperator(path *field.Path, r corev1.ScopedResourceSelectorRequirement) (errs field.ErrorList) {
	if slices.Contains(existing, r.ScopeName) && r.Operator != corev1.ScopeSelectorOpExists {
		errs = append(errs, field.Invalid(path.Child("operator"), r.Operator, mustExist))
	}
	switch r.Operator {
	case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(path.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
		}
	case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, field.Invalid(path.Child("values"), r.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	return errs
}

// scopeFits tells whether a scope says something of what is limited; of one that is none
// that is not asked.
func scopeFits(scope corev1.ResourceQuotaScope, hard corev1.ResourceList) bool {
	if !isScope(scope) {
		return true
	}
	for name := range hard {
		ofPod := name == corev1.ResourcePods || computedResources.Has(name) && !strings.HasSuffix(string(name), "ephemeral-storage")
		standard := computedResources.Has(name) || countedResources.Has(name) || name == "requests.storage" || isHugePages(name)
		switch {
		case !standard:
		case scope == "BestEffort" && name != corev1.ResourcePods:
			return false
		case scope == "VolumeAttributesClass" && name != "persistentvolumeclaims" && name != "requests.storage":
			return false
		case scope != "BestEffort" && scope != "VolumeAttributesClass" && !ofPod:
			return false
		}
	}
	return true
}

func conflicting(scopes []corev1.ResourceQuotaScope) bool {
	has := func(s corev1.ResourceQuotaScope) bool { return slices.Contains(scopes, s) }
	return has("BestEffort") && has("NotBestEffort") || has("Terminating") && has("NotTerminating")
}
