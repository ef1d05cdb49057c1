package builtin

import (
	"reflect"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

type (
	validatingPolicy  = admissionv1.ValidatingAdmissionPolicy
	validatingBinding = admissionv1.ValidatingAdmissionPolicyBinding
	mutatingPolicy    = admissionv1.MutatingAdmissionPolicy
	mutatingBinding   = admissionv1.MutatingAdmissionPolicyBinding
)

const admissionVersion = admissionv1.GroupName + "/v1"

func validatingPolicies() *crd.Definition {
	read := func(p *validatingPolicy) policy {
		return policy{
			meta: &p.ObjectMeta, failure: p.Spec.FailurePolicy, params: p.Spec.ParamKind, constraints: p.Spec.MatchConstraints,
			conditions: p.Spec.MatchConditions, variables: p.Spec.Variables, validations: p.Spec.Validations, annotations: p.Spec.AuditAnnotations,
		}
	}
	d := policyKind("ValidatingAdmissionPolicy", "validatingadmissionpolicies", "", rules[validatingPolicy]{
		prepareCreate: func(obj map[string]any) {
			obj["status"] = map[string]any{}
			ensure(obj, "metadata")["generation"] = int64(1)
		},
		prepareUpdate: func(obj, old map[string]any) {
			keep(obj, old, "status")
			countSpecChange(obj, old)
		},
		validate:       func(p *validatingPolicy) field.ErrorList { return read(p).validate(policy{}) },
		validateUpdate: func(p, old *validatingPolicy) field.ErrorList { return read(p).validate(read(old)) },
		resets:         resets(admissionVersion, "status"),
	}, policyColumns("Validations", "Validations indicates the number of validation rules defined in this configuration"),
		func(p *validatingPolicy) []any { return read(p).cells(len(p.Spec.Validations)) })
	d.Versions[0].Subresources["status"] = subresource("status", false, rules[validatingPolicy]{
		prepareUpdate: func(obj, old map[string]any) {
			keep(obj, old, "spec")
			keepMetadata(obj, old)
		},
		validateUpdate: func(p, _ *validatingPolicy) field.ErrorList { return validatePolicyStatus(&p.Status) },
		resets:         resets(admissionVersion, "metadata", "spec"),
	}, "get", "patch", "update")
	return d
}

func mutatingPolicies() *crd.Definition {
	read := func(p *mutatingPolicy) policy {
		return policy{
			meta: &p.ObjectMeta, failure: p.Spec.FailurePolicy, params: p.Spec.ParamKind, constraints: p.Spec.MatchConstraints,
			conditions: p.Spec.MatchConditions, variables: p.Spec.Variables, mutating: true, mutations: p.Spec.Mutations, again: p.Spec.ReinvocationPolicy,
		}
	}
	return policyKind("MutatingAdmissionPolicy", "mutatingadmissionpolicies", "v1beta1", rules[mutatingPolicy]{
		prepareCreate:  countFromOne,
		prepareUpdate:  countSpecChange,
		validate:       func(p *mutatingPolicy) field.ErrorList { return read(p).validate(policy{}) },
		validateUpdate: func(p, old *mutatingPolicy) field.ErrorList { return read(p).validate(read(old)) },
	}, policyColumns("Mutations", "Mutation indicates the number of mutations rules defined in this configuration"),
		func(p *mutatingPolicy) []any { return read(p).cells(len(p.Spec.Mutations)) })
}

func validatingBindings() *crd.Definition {
	return bindingKind("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", "", func(b *validatingBinding) binding {
		return binding{meta: &b.ObjectMeta, policy: b.Spec.PolicyName, params: b.Spec.ParamRef, resources: b.Spec.MatchResources, actions: b.Spec.ValidationActions}
	})
}

func mutatingBindings() *crd.Definition {
	return bindingKind("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", "v1beta1", func(b *mutatingBinding) binding {
		return binding{meta: &b.ObjectMeta, policy: b.Spec.PolicyName, params: b.Spec.ParamRef, resources: b.Spec.MatchResources, mutating: true}
	})
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

func policyKind[T any, P goType[T]](name, plural, storedAs string, r rules[T], columns []metav1.TableColumnDefinition, cells func(*T) []any) *crd.Definition {
	r.warn = func(p, _ *T) []string { return warnStaticName(P(p).GetName()) }
	return define[T, P](kind[T]{
		group: admissionv1.GroupName, version: "v1", name: name, plural: plural,
		alike: []string{"v1beta1", "v1alpha1"}, storedAs: storedAs, categories: extending,
		defaults: func(obj map[string]any) {
			spec := ensure(obj, "spec")
			byDefault(spec, "failurePolicy", string(admissionv1.Fail))
			defaultMatch(child(spec, "matchConstraints"))
		},
		rules: r, columns: columns, cells: cells,
	})
}

func bindingKind[T any, P goType[T]](name, plural, storedAs string, read func(*T) binding) *crd.Definition {
	return define[T, P](kind[T]{
		group: admissionv1.GroupName, version: "v1", name: name, plural: plural,
		alike: []string{"v1beta1", "v1alpha1"}, storedAs: storedAs, categories: extending,
		defaults: defaultBinding,
		rules: rules[T]{
			prepareCreate:  countFromOne,
			prepareUpdate:  countSpecChange,
			validate:       func(b *T) field.ErrorList { return read(b).validate() },
			validateUpdate: func(b, _ *T) field.ErrorList { return read(b).validate() },
			warn:           func(b, _ *T) []string { return warnStaticName(P(b).GetName()) },
		},
		columns: []metav1.TableColumnDefinition{
			nameColumn,
			column("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to"),
			column("ParamRef", "ParamRef indicates the param resource which sets the configuration param"),
			ageColumn,
		},
		cells: func(b *T) []any { return read(b).cells() },
	})
}

func policyColumns(what, description string) []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		nameColumn,
		{Name: what, Type: "integer", Description: description},
		column("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy"),
		ageColumn,
	}
}

const unset = "<unset>"

func (p policy) cells(n int) []any {
	params := unset
	if k := p.params; k != nil {
		params = k.APIVersion + "/" + k.Kind
	}
	return []any{p.meta.Name, int64(n), params, since(p.meta.CreationTimestamp)}
}

func (b binding) cells() []any {
	params := unset
	switch r := b.params; {
	case r == nil:
	case r.Name != "" && r.Namespace != "":
		params = r.Namespace + "/" + r.Name
	case r.Name != "":
		params = "*/" + r.Name
	case r.Selector != nil:
		params = r.Selector.String()
	}
	return []any{b.meta.Name, b.policy, params, since(b.meta.CreationTimestamp)}
}

func countFromOne(obj map[string]any) { ensure(obj, "metadata")["generation"] = int64(1) }

// countSpecChange makes the generation tell that the spec changed.
func countSpecChange(obj, old map[string]any) {
	if before, _ := child(old, "metadata")["generation"].(int64); !reflect.DeepEqual(obj["spec"], old["spec"]) {
		ensure(obj, "metadata")["generation"] = before + 1
	}
}

func defaultBinding(obj map[string]any) {
	spec := ensure(obj, "spec")
	defaultMatch(child(spec, "matchResources"))
}

// defaultMatch fills in what clients leave out of the description of what is
// matched; there may be none.
func defaultMatch(match map[string]any) {
	if match == nil {
		return
	}
	byDefault(match, "matchPolicy", string(admissionv1.Equivalent))
	ensure(match, "namespaceSelector")
	ensure(match, "objectSelector")
	for _, list := range []string{"resourceRules", "excludeResourceRules"} {
		rules, _ := match[list].([]any)
		for _, r := range rules {
			if rule, ok := r.(map[string]any); ok {
				byDefault(rule, "scope", string(admissionv1.AllScopes))
			}
		}
	}
}

// keepMetadata leaves of the metadata only what the server itself sets to the
// writer of a status.
func keepMetadata(obj, old map[string]any) {
	meta, before := ensure(obj, "metadata"), child(old, "metadata")
	for _, name := range []string{
		"deletionTimestamp", "generation", "selfLink", "labels", "annotations", "finalizers", "ownerReferences",
	} {
		keep(meta, before, name)
	}
}
