package extend

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	segments "k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"
)

// What fields may hold, sorted as messages list it.
var (
	validationActions  = []string{"Audit", "Deny", "Warn"}
	notFoundActions    = []string{"Deny", "Allow"}
	patchTypes         = []string{"ApplyConfiguration", "JSONPatch"}
	mutatingOperations = []string{"*", "CONNECT", "CREATE", "UPDATE"}
	policyReasons      = []string{"Forbidden", "Invalid", "RequestEntityTooLarge"}
)

// validate checks a policy; old is what it was before, or empty.
func (p policy) validate(old policy) field.ErrorList {
	errs := apivalidation.ValidateObjectMeta(p.meta, false, apivalidation.NameIsDNSSubdomain, MetadataPath)
	spec := field.NewPath("spec")
	if p.failure == nil {
		errs = append(errs, field.Required(spec.Child("failurePolicy"), ""))
	}
	errs = append(errs, oneOf(p.failure, failurePolicies, spec.Child("failurePolicy"))...)
	errs = append(errs, validateParamKind(p.params, spec.Child("paramKind"))...)
	errs = append(errs, p.validateConstraints(spec.Child("matchConstraints"))...)
	stored := old.expressions()
	if old.meta == nil || !reflect.DeepEqual(p.params, old.params) || !reflect.DeepEqual(p.conditions, old.conditions) {
		errs = append(errs, validateConditions(p.conditions, p.params != nil, stored, spec.Child("matchConditions"))...)
	}
	return append(errs, p.validateExpressions(stored, spec)...)
}

func (p policy) validateConstraints(at *field.Path) field.ErrorList {
	c := p.constraints
	if c == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	errs := validateMatch(c, at)
	if len(c.ResourceRules) == 0 {
		errs = append(errs, field.Required(at.Child("resourceRules"), ""))
	}
	if p.mutating {
		errs = append(errs, validateMutable(c, at)...)
	}
	return errs
}

func validateParamKind(k *admissionv1.ParamKind, at *field.Path) field.ErrorList {
	if k == nil {
		return nil
	}
	errs := validateParamVersion(k.APIVersion, at.Child("apiVersion"))
	if k.Kind == "" {
		return append(errs, field.Required(at.Child("kind"), ""))
	}
	if msgs := validation.IsDNS1035Label(strings.ToLower(k.Kind)); len(msgs) > 0 {
		errs = append(errs, field.Invalid(at.Child("kind"), k.Kind, "may have mixed case, but should otherwise match: "+strings.Join(msgs, ",")))
	}
	return errs
}

func validateParamVersion(text string, at *field.Path) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	if strings.Count(text, "/") > 1 {
		return field.ErrorList{field.Invalid(at, text, "unexpected GroupVersion string: "+text)}
	}
	group, version, grouped := strings.Cut(text, "/")
	if !grouped {
		group, version = "", text
	}
	var errs field.ErrorList
	if group != "" {
		if msgs := validation.IsDNS1123Subdomain(group); len(msgs) > 0 {
			errs = append(errs, field.Invalid(at, group, strings.Join(msgs, ",")))
		}
	}
	if version == "" {
		return append(errs, field.Invalid(at, text, "version must be specified"))
	}
	if msgs := validation.IsDNS1035Label(version); len(msgs) > 0 {
		errs = append(errs, field.Invalid(at, version, strings.Join(msgs, ",")))
	}
	return errs
}

// validateMatch checks the description of what is matched.
func validateMatch(m *admissionv1.MatchResources, at *field.Path) field.ErrorList {
	if m == nil {
		return nil
	}
	var errs field.ErrorList
	if m.MatchPolicy == nil {
		errs = append(errs, field.Required(at.Child("matchPolicy"), ""))
	}
	errs = append(errs, oneOf(m.MatchPolicy, matchPolicies, at.Child("matchPolicy"))...)
	for _, s := range []struct {
		name     string
		selector *metav1.LabelSelector
	}{{"namespaceSelector", m.NamespaceSelector}, {"objectSelector", m.ObjectSelector}} {
		if s.selector == nil {
			errs = append(errs, field.Required(at.Child(s.name), ""))
			continue
		}
		errs = append(errs, metav1validation.ValidateLabelSelector(s.selector, metav1validation.LabelSelectorValidationOptions{}, at.Child(s.name))...)
	}
	for i := range m.ResourceRules {
		errs = append(errs, validateNamedRule(&m.ResourceRules[i], at.Child("resourceRules").Index(i))...)
	}
	for i := range m.ExcludeResourceRules {
		errs = append(errs, validateNamedRule(&m.ExcludeResourceRules[i], at.Child("excludeResourceRules").Index(i))...)
	}
	return errs
}

// validateMutable refuses operations that have no object to change.
func validateMutable(m *admissionv1.MatchResources, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range m.ResourceRules {
		for _, o := range m.ResourceRules[i].Operations {
			errs = append(errs, oneOf(&o, mutatingOperations, at.Child("resourceRules", "operations"))...)
		}
	}
	return errs
}

func validateNamedRule(r *admissionv1.NamedRuleWithOperations, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range r.ResourceNames {
		here := at.Child("resourceNames").Index(i)
		for _, msg := range segments.IsPathSegmentName(name) {
			errs = append(errs, field.Invalid(here, name, msg))
		}
		if slices.Contains(r.ResourceNames[:i], name) {
			errs = append(errs, field.Duplicate(here, name))
		}
	}
	return append(errs, validateWebhookRule(&r.RuleWithOperations, at)...)
}

func (b binding) validate() field.ErrorList {
	errs := apivalidation.ValidateObjectMeta(b.meta, false, apivalidation.NameIsDNSSubdomain, MetadataPath)
	spec := field.NewPath("spec")
	if b.policy == "" {
		errs = append(errs, field.Required(spec.Child("policyName"), ""))
	} else {
		for _, msg := range apivalidation.NameIsDNSSubdomain(b.policy, false) {
			errs = append(errs, field.Invalid(spec.Child("policyName"), b.policy, msg))
		}
	}
	errs = append(errs, validateParamRef(b.params, spec.Child("paramRef"))...)
	errs = append(errs, validateMatch(b.resources, spec.Child("matchResources"))...)
	if !b.mutating {
		return append(errs, validateActions(b.actions, spec.Child("validationActions"))...)
	}
	if b.resources != nil {
		errs = append(errs, validateMutable(b.resources, spec.Child("matchResources"))...)
	}
	return errs
}

func validateParamRef(r *admissionv1.ParamRef, at *field.Path) field.ErrorList {
	const exclusive = "name and selector are mutually exclusive"
	if r == nil {
		return nil
	}
	var errs field.ErrorList
	if r.Name != "" {
		for _, msg := range segments.IsPathSegmentName(r.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), r.Name, msg))
		}
		if r.Selector != nil {
			errs = append(errs, field.Forbidden(at.Child("name"), exclusive))
		}
	}
	if r.Selector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(r.Selector, metav1validation.LabelSelectorValidationOptions{}, at.Child("selector"))...)
		if r.Name != "" {
			errs = append(errs, field.Forbidden(at.Child("selector"), exclusive))
		}
	}
	if r.Name == "" && r.Selector == nil {
		errs = append(errs, field.Required(at, "one of name or selector must be specified"))
	}
	if a := r.ParameterNotFoundAction; a == nil || *a == "" {
		return append(errs, field.Required(at.Child("parameterNotFoundAction"), ""))
	}
	return append(errs, oneOf(r.ParameterNotFoundAction, notFoundActions, at.Child("parameterNotFoundAction"))...)
}

func validateActions(actions []admissionv1.ValidationAction, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range actions {
		errs = append(errs, oneOf(&actions[i], validationActions, at.Index(i))...)
		if slices.Contains(actions[:i], actions[i]) {
			errs = append(errs, field.Duplicate(at.Index(i), actions[i]))
		}
	}
	if slices.Contains(actions, admissionv1.Deny) && slices.Contains(actions, admissionv1.Warn) {
		errs = append(errs, field.Invalid(at, actions, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)"))
	}
	if len(actions) == 0 {
		errs = append(errs, field.Required(at, "at least one validation action is required"))
	}
	return errs
}

func validatePolicyStatus(s *admissionv1.ValidatingAdmissionPolicyStatus) field.ErrorList {
	var errs field.ErrorList
	status := field.NewPath("status")
	if s.TypeChecking != nil {
		for i, w := range s.TypeChecking.ExpressionWarnings {
			at := status.Child("typeChecking", "expressionWarnings").Index(i)
			if w.Warning == "" {
				errs = append(errs, field.Required(at.Child("warning"), ""))
			}
			errs = append(errs, validateFieldRef(strings.TrimSpace(w.FieldRef), at.Child("fieldRef"))...)
		}
	}
	return append(errs, metav1validation.ValidateConditions(s.Conditions, status.Child("conditions"))...)
}

func validateFieldRef(ref string, at *field.Path) field.ErrorList {
	if ref == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	if err := jsonpath.New("spec").Parse("{" + ref + "}"); err != nil {
		return field.ErrorList{field.Invalid(at, ref, fmt.Sprintf("invalid JSONPath: %v", err))}
	}
	return nil
}
