package extend

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/util/webhook"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/cel"
	"github.com/wasmgate/wasmgate/crd/object"
)

// What fields may hold, sorted as messages list it.
var (
	failurePolicies  = []string{"Fail", "Ignore"}
	matchPolicies    = []string{"Equivalent", "Exact"}
	allSideEffects   = []string{"None", "NoneOnDryRun", "Some", "Unknown"}
	harmless         = []string{"None", "NoneOnDryRun"}
	reinvocations    = []string{"IfNeeded", "Never"}
	hookOperations   = []string{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}
	scopes           = []string{"*", "Cluster", "Namespaced"}
	reviews          = []string{"v1", "v1beta1"}
	staticNameSuffix = ".static.k8s.io"
)

func warnStaticName(obj, _ map[string]any) []string {
	name := object.TextAt(obj, "metadata", "name")
	if !strings.HasSuffix(name, staticNameSuffix) {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", staticNameSuffix)}
}

func knownReview(version string) bool { return slices.Contains(reviews, version) }

func (w webhooks) validate(a allowances) field.ErrorList {
	errs := apivalidation.ValidateObjectMeta(w.meta, false, apivalidation.NameIsDNSSubdomain, MetadataPath)
	names := map[string]bool{}
	for i := range w.hooks {
		h, path := &w.hooks[i], field.NewPath("webhooks").Index(i)
		errs = append(errs, validateWebhook(h, a, path)...)
		errs = append(errs, validateReviews(h.AdmissionReviewVersions, !a.unknownReviews, path.Child("admissionReviewVersions"))...)
		if !a.repeatedNames && h.Name != "" && names[h.Name] {
			errs = append(errs, field.Duplicate(path.Child("name"), h.Name))
		}
		names[h.Name] = true
	}
	return errs
}

func validateWebhook(h *mutatingWebhook, a allowances, path *field.Path) field.ErrorList {
	errs := validation.IsFullyQualifiedName(path.Child("name"), h.Name)
	for i := range h.Rules {
		errs = append(errs, validateWebhookRule(&h.Rules[i], path.Child("rules").Index(i))...)
	}
	errs = append(errs, oneOf(h.FailurePolicy, failurePolicies, path.Child("failurePolicy"))...)
	errs = append(errs, oneOf(h.MatchPolicy, matchPolicies, path.Child("matchPolicy"))...)
	effects := harmless
	if a.sideEffects {
		effects = allSideEffects
	}
	if h.SideEffects == nil {
		errs = append(errs, field.Required(path.Child("sideEffects"), "must specify one of "+strings.Join(effects, ", ")))
	}
	errs = append(errs, oneOf(h.SideEffects, effects, path.Child("sideEffects"))...)
	if t := h.TimeoutSeconds; t != nil && (*t < 1 || *t > 30) {
		errs = append(errs, field.Invalid(path.Child("timeoutSeconds"), *t, "the timeout value must be between 1 and 30 seconds"))
	}
	errs = append(errs, validateSelectors(h, a.badSelectors, path)...)
	errs = append(errs, oneOf(h.ReinvocationPolicy, reinvocations, path.Child("reinvocationPolicy"))...)
	errs = append(errs, validateWebhookClient(h.ClientConfig, path.Child("clientConfig"))...)
	if !a.sameConditions {
		errs = append(errs, validateConditions(h.MatchConditions, false, a.expressions, path.Child("matchConditions"))...)
	}
	return errs
}

// oneOf refuses what is not among the sorted values; nothing at all is allowed.
func oneOf[T ~string](got *T, values []string, path *field.Path) field.ErrorList {
	if got == nil || slices.Contains(values, string(*got)) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, *got, values)}
}

func validateSelectors(h *mutatingWebhook, lenient bool, path *field.Path) field.ErrorList {
	opts := metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: lenient}
	var errs field.ErrorList
	for _, s := range []struct {
		name     string
		selector *metav1.LabelSelector
	}{{"namespaceSelector", h.NamespaceSelector}, {"objectSelector", h.ObjectSelector}} {
		if s.selector != nil {
			errs = append(errs, metav1validation.ValidateLabelSelector(s.selector, opts, path.Child(s.name))...)
		}
	}
	return errs
}

func validateWebhookClient(c admissionv1.WebhookClientConfig, path *field.Path) field.ErrorList {
	switch {
	case (c.URL == nil) == (c.Service == nil):
		return field.ErrorList{field.Required(path, "exactly one of url or service is required")}
	case c.URL == nil:
		s := c.Service
		port := int32(443)
		if s.Port != nil {
			port = *s.Port
		}
		// In kube-apiserver's order, which takes the one for the other.
		return webhook.ValidateWebhookService(path.Child("service"), s.Name, s.Namespace, s.Path, port)
	}
	if _, ok := crd.ModuleName(*c.URL); ok {
		return crd.ValidateModuleURL(*c.URL, path.Child("url"))
	}
	return webhook.ValidateWebhookURL(path.Child("url"), *c.URL, true)
}

func validateReviews(versions []string, known bool, path *field.Path) field.ErrorList {
	if len(versions) == 0 {
		return field.ErrorList{field.Required(path, "must specify one of "+strings.Join(reviews, ", "))}
	}
	var errs field.ErrorList
	for i, v := range versions {
		if slices.Contains(versions[:i], v) {
			errs = append(errs, field.Invalid(path.Index(i), v, "duplicate version"))
			continue
		}
		for _, msg := range validation.IsDNS1035Label(v) {
			errs = append(errs, field.Invalid(path.Index(i), v, msg))
		}
	}
	if known && !slices.ContainsFunc(versions, knownReview) {
		errs = append(errs, field.Invalid(path, versions, "must include at least one of "+strings.Join(reviews, ", ")))
	}
	return errs
}

func validateWebhookRule(r *admissionv1.RuleWithOperations, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := path.Child("operations")
	if len(r.Operations) == 0 {
		errs = append(errs, field.Required(at, ""))
	}
	if len(r.Operations) > 1 && slices.Contains(r.Operations, admissionv1.OperationAll) {
		errs = append(errs, field.Invalid(at, r.Operations, "if '*' is present, must not specify other operations"))
	}
	for i := range r.Operations {
		errs = append(errs, oneOf(&r.Operations[i], hookOperations, at.Index(i))...)
	}
	errs = append(errs, validateNames(r.APIGroups, "API groups", path.Child("apiGroups"))...)
	errs = append(errs, validateNames(r.APIVersions, "API versions", path.Child("apiVersions"))...)
	for i, v := range r.APIVersions {
		if v == "" {
			errs = append(errs, field.Required(path.Child("apiVersions").Index(i), ""))
		}
	}
	errs = append(errs, validateResources(r.Resources, path.Child("resources"))...)
	return append(errs, oneOf(r.Scope, scopes, path.Child("scope"))...)
}

// validateNames checks a list that is either of names or of "*" alone.
func validateNames(names []string, what string, path *field.Path) field.ErrorList {
	if len(names) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	if len(names) > 1 && slices.Contains(names, "*") {
		return field.ErrorList{field.Invalid(path, names, "if '*' is present, must not specify other "+what)}
	}
	return nil
}

// validateResources checks a list of resources and subresources, in which no
// entry may cover another.
func validateResources(resources []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(resources) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	allOf, everywhere := map[string]bool{}, map[string]bool{} // x/*, */x
	plain := false                                            // the last entry without a subresource is a name
	for i, r := range resources {
		if r == "" {
			errs = append(errs, field.Required(path.Index(i), ""))
			continue
		}
		name, sub, split := strings.Cut(r, "/")
		if !split {
			plain = r != "*"
			continue
		}
		if allOf[name] {
			errs = append(errs, field.Invalid(path.Index(i), r, fmt.Sprintf("if '%s/*' is present, must not specify %s", name, r)))
		}
		if everywhere[sub] {
			errs = append(errs, field.Invalid(path.Index(i), r, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, r)))
		}
		allOf[name] = allOf[name] || sub == "*"
		everywhere[sub] = everywhere[sub] || name == "*"
	}
	if len(resources) > 1 && slices.Contains(resources, "*/*") {
		errs = append(errs, field.Invalid(path, resources, "if '*/*' is present, must not specify other resources"))
	}
	if slices.Contains(resources, "*") && plain {
		errs = append(errs, field.Invalid(path, resources, "if '*' is present, must not specify other resources without subresources"))
	}
	return errs
}

// maxConditions is the most conditions that a webhook may have.
const maxConditions = 64

// validateConditions checks conditions, which use none of the variables that
// their object may have; params tells whether they have parameters.
func validateConditions(conditions []admissionv1.MatchCondition, params bool, stored []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(conditions) > maxConditions {
		errs = append(errs, field.TooMany(path, len(conditions), maxConditions))
	}
	c := checker{cel.Plain(), stored}
	names := map[string]bool{}
	for i, m := range conditions {
		at := path.Index(i)
		if text := strings.TrimSpace(m.Expression); text == "" {
			errs = append(errs, field.Required(at.Child("expression"), ""))
		} else {
			errs = append(errs, c.check(cel.Condition(text), cel.Sees{HasParams: params, HasAuthorizer: true}, at.Child("expression"))...)
		}
		if m.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
			continue
		}
		for _, msg := range validation.IsQualifiedName(m.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), m.Name, msg))
		}
		if names[m.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), m.Name))
		}
		names[m.Name] = true
	}
	return errs
}
