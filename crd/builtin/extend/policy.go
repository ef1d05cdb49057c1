package extend

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

type (
	validatingPolicy  = admissionv1.ValidatingAdmissionPolicy
	validatingBinding = admissionv1.ValidatingAdmissionPolicyBinding
	mutatingPolicy    = admissionv1.MutatingAdmissionPolicy
	mutatingBinding   = admissionv1.MutatingAdmissionPolicyBinding
)

func readValidatingPolicy(p *validatingPolicy) policy {
	return policy{
		meta: &p.ObjectMeta, failure: p.Spec.FailurePolicy, params: p.Spec.ParamKind, constraints: p.Spec.MatchConstraints,
		conditions: p.Spec.MatchConditions, variables: p.Spec.Variables, validations: p.Spec.Validations, annotations: p.Spec.AuditAnnotations,
	}
}

func readMutatingPolicy(p *mutatingPolicy) policy {
	return policy{
		meta: &p.ObjectMeta, failure: p.Spec.FailurePolicy, params: p.Spec.ParamKind, constraints: p.Spec.MatchConstraints,
		conditions: p.Spec.MatchConditions, variables: p.Spec.Variables, mutating: true, mutations: p.Spec.Mutations, again: p.Spec.ReinvocationPolicy,
	}
}

func validateValidatingPolicy(subresource string, p, old *validatingPolicy) field.ErrorList {
	switch {
	case subresource == "status":
		return validatePolicyStatus(&p.Status)
	case old == nil:
		return readValidatingPolicy(p).validate(policy{})
	}
	return readValidatingPolicy(p).validate(readValidatingPolicy(old))
}

func validateMutatingPolicy(_ string, p, old *mutatingPolicy) field.ErrorList {
	if old == nil {
		return readMutatingPolicy(p).validate(policy{})
	}
	return readMutatingPolicy(p).validate(readMutatingPolicy(old))
}

func validateValidatingBinding(_ string, b, _ *validatingBinding) field.ErrorList {
	return binding{meta: &b.ObjectMeta, policy: b.Spec.PolicyName, params: b.Spec.ParamRef, resources: b.Spec.MatchResources, actions: b.Spec.ValidationActions}.validate()
}

func validateMutatingBinding(_ string, b, _ *mutatingBinding) field.ErrorList {
	return binding{meta: &b.ObjectMeta, policy: b.Spec.PolicyName, params: b.Spec.ParamRef, resources: b.Spec.MatchResources, mutating: true}.validate()
}

// policy is a policy of either kind.
type policy struct {
	meta        *metav1.ObjectMeta
	failure     *admissionv1.FailurePolicyType
	params      *admissionv1.ParamKind
	constraints *admissionv1.MatchResources
	conditions  []admissionv1.MatchCondition
	variables   []admissionv1.Variable

	validations []admissionv1.Validation
	annotations []admissionv1.AuditAnnotation

	mutating  bool
	mutations []admissionv1.Mutation
	again     admissionv1.ReinvocationPolicyType
}

// binding is a binding of either kind.
type binding struct {
	meta      *metav1.ObjectMeta
	policy    string
	params    *admissionv1.ParamRef
	resources *admissionv1.MatchResources

	mutating bool
	actions  []admissionv1.ValidationAction
}

// bindingParams prints what a binding of either kind names as parameters.
func bindingParams(obj map[string]any) any {
	b := &validatingBinding{}
	if object.ToTyped(obj, b) != nil {
		return ""
	}
	switch r := b.Spec.ParamRef; {
	case r == nil:
	case r.Name != "" && r.Namespace != "":
		return r.Namespace + "/" + r.Name
	case r.Name != "":
		return "*/" + r.Name
	case r.Selector != nil:
		return r.Selector.String()
	}
	return "<unset>"
}
