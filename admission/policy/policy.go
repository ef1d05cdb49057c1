package policy

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/cel"
)

// Params finds parameters. Objects are only to be read.
type Params interface {
	// Namespaced tells whether objects of a kind are in namespaces; served is
	// false when there is no such kind.
	Namespaced(kind schema.GroupVersionKind) (namespaced, served bool)
	// Get returns an object, nil if there is none.
	Get(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error)
	// Select returns the objects that have such labels, by name.
	Select(ctx context.Context, kind schema.GroupVersionKind, namespace string, s labels.Selector) ([]*unstructured.Unstructured, error)
}

// Binding puts a policy in force. It is immutable.
type Binding struct {
	// Name is the binding's, Policy that of the policy.
	Name, Policy string

	scope    *admission.Scope // nil for whatever the policy is about
	ref      *admissionv1.ParamRef
	actions  []admissionv1.ValidationAction
	unusable error
}

// Validating compiles a binding of a validating policy, which is not changed.
func Validating(b *admissionv1.ValidatingAdmissionPolicyBinding) *Binding {
	return &Binding{Name: b.Name, Policy: b.Spec.PolicyName, scope: scopeOf(b.Spec.MatchResources), ref: b.Spec.ParamRef, actions: b.Spec.ValidationActions}
}

// Mutating compiles a binding of a mutating policy, which is not changed.
func Mutating(b *admissionv1.MutatingAdmissionPolicyBinding) *Binding {
	return &Binding{Name: b.Name, Policy: b.Spec.PolicyName, scope: scopeOf(b.Spec.MatchResources), ref: b.Spec.ParamRef}
}

// UnreadableBinding stands for a binding that is stored but cannot be read. As nobody
// knows what it puts in force, it refuses everything.
func UnreadableBinding(name string, cause error) *Binding {
	return &Binding{Name: name, unusable: cause}
}

// scopeOf is nil where nothing is said.
func scopeOf(m *admissionv1.MatchResources) *admission.Scope {
	if m == nil {
		return nil
	}
	return admission.NewScope(m)
}

// common is what both kinds of policies are. It is immutable.
type common struct {
	name       string
	scope      *admission.Scope // nil for everything
	ignores    bool             // failurePolicy
	params     *admissionv1.ParamKind
	conditions matchconditions.Matcher // nil when there are none
	// unusable is why it cannot be used.
	unusable error
}

// spec is what both kinds of policies say.
type spec struct {
	failure     *admissionv1.FailurePolicyType
	params      *admissionv1.ParamKind
	constraints *admissionv1.MatchResources
	conditions  []admissionv1.MatchCondition
	variables   []admissionv1.Variable
}

// compile compiles what both kinds have, and returns the compiler for the rest.
func compile(name string, s spec) (common, *admissioncel.CompositedCompiler) {
	c := common{name: name, params: s.params, ignores: s.failure != nil && *s.failure == admissionv1.Ignore}
	if s.constraints == nil {
		c.unusable = errors.New("policy contained no match constraints, a required field")
		return c, nil
	}
	c.scope = admission.NewScope(s.constraints)
	compiler, err := cel.Composed()
	if err != nil {
		c.unusable = fmt.Errorf("failed to initialize CEL compiler: %w", err)
		return c, nil
	}
	for _, v := range s.variables {
		if cel.TakesVariablesWhole(v.Expression) {
			c.unusable = fmt.Errorf("the variable %s takes all variables at once, and so itself: name those that it needs, as in variables.a", v.Name)
			return c, nil
		}
		compiler.CompileAndStoreVariable(cel.Variable(v.Name, v.Expression), c.sees(), environment.StoredExpressions)
	}
	if len(s.conditions) > 0 {
		all := make([]admissioncel.ExpressionAccessor, len(s.conditions))
		for i := range s.conditions {
			all[i] = (*matchconditions.MatchCondition)(&s.conditions[i])
		}
		compiled := compiler.CompileCondition(all, c.sees(), environment.StoredExpressions)
		c.conditions = matchconditions.NewMatcher(compiled, s.failure, "policy", "validate", name)
	}
	return c, compiler
}

// sees are the variables of the expressions of a policy.
func (c *common) sees() cel.Sees {
	return cel.Sees{HasParams: c.params != nil, HasAuthorizer: true}
}

// fault is an error of the configuration of a policy: what failurePolicy is
// about.
type fault struct {
	binding *Binding // nil when it is the policy's own
	cause   error
}

// Error implements error.
func (f *fault) Error() string {
	if f.binding == nil {
		return "failed to configure policy: " + f.cause.Error()
	}
	return "failed to configure binding: " + f.cause.Error()
}

// Unwrap returns the cause.
func (f *fault) Unwrap() error { return f.cause }

// invocation is a policy that is asked about a request.
type invocation struct {
	binding *Binding
	version string
	param   runtime.Object // nil when there is none
}

// each finds out with which bindings and parameters a policy is asked about a
// request, in order. What is wrong goes to wrong.
func (c *common) each(ctx context.Context, r *request, bindings []*Binding, params Params, ask func(invocation) error, wrong func(*fault)) error {
	if params == nil {
		params = r.Params
	}
	version, err := r.GetResource().Version, error(nil)
	if c.scope != nil {
		if version, err = c.scope.Match(ctx, r); err == nil && version == "" {
			return nil
		}
	}
	if err == nil {
		err = c.usable(params)
	}
	if err != nil {
		wrong(&fault{cause: err})
		return nil
	}
	for _, b := range bindings {
		found, err := b.paramsFor(ctx, c, r, params)
		if err != nil {
			wrong(&fault{b, err})
			continue
		}
		for _, p := range found {
			if err := ask(invocation{b, version, p}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *common) usable(params Params) error {
	if c.unusable != nil || c.params == nil {
		return c.unusable
	}
	kind := schema.FromAPIVersionAndKind(c.params.APIVersion, c.params.Kind)
	if _, served := params.Namespaced(kind); !served {
		return fmt.Errorf("failed to find resource referenced by paramKind: '%v'", kind)
	}
	return nil
}

// paramsFor are the parameters of a request, one of them nil for one that needs
// none; none at all if the binding is not about the request.
func (b *Binding) paramsFor(ctx context.Context, c *common, r *request, params Params) ([]runtime.Object, error) {
	if b.unusable != nil {
		return nil, b.unusable
	}
	if b.scope != nil {
		if version, err := b.scope.Match(ctx, r); err != nil || version == "" {
			return nil, err
		}
	}
	if c.params == nil || b.ref == nil {
		return []runtime.Object{nil}, nil
	}
	kind := schema.FromAPIVersionAndKind(c.params.APIVersion, c.params.Kind)
	namespace := ""
	switch namespaced, _ := params.Namespaced(kind); {
	case namespaced && b.ref.Namespace == "" && r.GetNamespace() == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	case namespaced && b.ref.Namespace == "":
		namespace = r.GetNamespace()
	case namespaced:
		namespace = b.ref.Namespace
	case b.ref.Namespace != "":
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	}
	found, err := b.find(ctx, kind, namespace, params)
	if err == nil && len(found) == 0 && b.ref.ParameterNotFoundAction != nil && *b.ref.ParameterNotFoundAction == admissionv1.DenyAction {
		err = errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return found, err
}

func (b *Binding) find(ctx context.Context, kind schema.GroupVersionKind, namespace string, params Params) ([]runtime.Object, error) {
	if b.ref.Name != "" {
		one, err := params.Get(ctx, kind, namespace, b.ref.Name)
		if err != nil || one == nil {
			return nil, err
		}
		return []runtime.Object{one}, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(b.ref.Selector)
	if err != nil {
		return nil, err
	}
	all, err := params.Select(ctx, kind, namespace, selector)
	out := make([]runtime.Object, len(all))
	for i, o := range all {
		out[i] = o
	}
	return out, err
}
