package definition

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/util/webhook"

	"github.com/wasmgate/wasmgate/excerpt"
)

type condition = apiextensionsv1.CustomResourceDefinitionCondition

// Conditions computes the status that c should have: accepted names and the
// conditions NamesAccepted, Established, NonStructuralSchema and
// KubernetesAPIApprovalPolicyConformant. sameGroup are the definitions whose
// names c may collide with; those of other groups and c itself in it do not
// count. Nothing passed is changed. changed tells whether the status differs
// from the one that c has.
func Conditions(c *apiextensionsv1.CustomResourceDefinition, sameGroup []*apiextensionsv1.CustomResourceDefinition, now metav1.Time) (status apiextensionsv1.CustomResourceDefinitionStatus, changed bool) {
	status = *c.Status.DeepCopy()
	names, accepted := acceptNames(c, sameGroup)
	status.AcceptedNames = names
	SetCondition(&status, accepted, now)
	if cond := establishedCondition(c, accepted.Status); cond != nil {
		SetCondition(&status, *cond, now)
	}
	if cond := approvalCondition(c); cond != nil {
		SetCondition(&status, *cond, now)
	}
	if cond := schemaCondition(c); cond != nil {
		SetCondition(&status, *cond, now)
	} else {
		removeCondition(&status, apiextensionsv1.NonStructuralSchema)
	}
	return status, !equality.Semantic.DeepEqual(&c.Status, &status)
}

// Served tells whether the custom resources of c are served: it was established
// and has names. Names that were accepted stay served while other ones are in
// conflict.
func Served(c *apiextensionsv1.CustomResourceDefinition) bool {
	n := c.Status.AcceptedNames
	cond := findCondition(&c.Status, apiextensionsv1.Established)
	return cond != nil && cond.Status == apiextensionsv1.ConditionTrue &&
		n.Plural != "" && n.Singular != "" && n.Kind != "" && n.ListKind != ""
}

// establishedCondition returns nil when the condition stays what it is: once
// established, a definition remains so.
func establishedCondition(c *apiextensionsv1.CustomResourceDefinition, accepted apiextensionsv1.ConditionStatus) *condition {
	old := findCondition(&c.Status, apiextensionsv1.Established)
	switch {
	case old != nil && old.Status == apiextensionsv1.ConditionTrue:
		return nil
	case accepted != apiextensionsv1.ConditionTrue:
		if old != nil {
			return nil
		}
		return established(apiextensionsv1.ConditionFalse, "NotAccepted", "not all names are accepted")
	case !caBundleValid(c):
		return established(apiextensionsv1.ConditionFalse, "InvalidCABundle", "The conversion webhook CABundle is invalid")
	default:
		return established(apiextensionsv1.ConditionTrue, "InitialNamesAccepted", "the initial names have been accepted")
	}
}

func established(status apiextensionsv1.ConditionStatus, reason, message string) *condition {
	return &condition{Type: apiextensionsv1.Established, Status: status, Reason: reason, Message: message}
}

func caBundleValid(c *apiextensionsv1.CustomResourceDefinition) bool {
	conv := c.Spec.Conversion
	if conv == nil || conv.Webhook == nil || conv.Webhook.ClientConfig == nil {
		return true
	}
	return len(webhook.ValidateCABundle(field.NewPath("caBundle"), conv.Webhook.ClientConfig.CABundle)) == 0
}

// schemaCondition lists what is not structural; nil when all is.
func schemaCondition(c *apiextensionsv1.CustomResourceDefinition) *condition {
	var errs field.ErrorList
	if c.Spec.PreserveUnknownFields {
		errs = append(errs, field.Invalid(field.NewPath("spec", "preserveUnknownFields"), true, "must be false"))
	}
	for i, v := range c.Spec.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		var in apiextensions.CustomResourceValidation
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema.DeepCopy(), &in, nil); err != nil {
			continue // validation refuses such schemas
		}
		s, err := structuralschema.NewStructural(in.OpenAPIV3Schema)
		if err != nil {
			return &condition{
				Type: apiextensionsv1.NonStructuralSchema, Status: apiextensionsv1.ConditionUnknown, Reason: "StructuralError",
				Message: fmt.Sprintf("failed to check validation schema for version %s: %v", v.Name, err),
			}
		}
		path := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
		errs = append(errs, structuralschema.ValidateStructural(path, s)...)
	}
	if len(errs) == 0 {
		return nil
	}
	return &condition{
		Type: apiextensionsv1.NonStructuralSchema, Status: apiextensionsv1.ConditionTrue, Reason: "Violations",
		Message: excerpt.Errors(errs).Error(),
	}
}

// approvalCondition says whether a group of the Kubernetes community was
// approved by it; nil for all other groups.
func approvalCondition(c *apiextensionsv1.CustomResourceDefinition) *condition {
	if !apihelpers.IsProtectedCommunityGroup(c.Spec.Group) {
		return nil
	}
	state, message := apihelpers.GetAPIApprovalState(c.Annotations)
	out := &condition{
		Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse, Message: message,
	}
	switch state {
	case apihelpers.APIApproved:
		out.Status, out.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		out.Reason = "UnapprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		out.Reason = "MissingAnnotation"
	default:
		out.Reason = "InvalidAnnotation"
	}
	return out
}

// SetCondition sets a condition in status. The time of the transition changes
// to now only when the condition's status does.
func SetCondition(status *apiextensionsv1.CustomResourceDefinitionStatus, c condition, now metav1.Time) {
	old := findCondition(status, c.Type)
	if old == nil {
		c.LastTransitionTime = now
		status.Conditions = append(status.Conditions, c)
		return
	}
	c.LastTransitionTime, c.ObservedGeneration = old.LastTransitionTime, old.ObservedGeneration
	if old.Status != c.Status || old.LastTransitionTime.IsZero() {
		c.LastTransitionTime = now
	}
	*old = c
}

func findCondition(status *apiextensionsv1.CustomResourceDefinitionStatus, t apiextensionsv1.CustomResourceDefinitionConditionType) *condition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == t {
			return &status.Conditions[i]
		}
	}
	return nil
}

func removeCondition(status *apiextensionsv1.CustomResourceDefinitionStatus, t apiextensionsv1.CustomResourceDefinitionConditionType) {
	if findCondition(status, t) != nil {
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c condition) bool { return c.Type == t })
	}
}
