package policy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/cel-go/common/types/ref"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Mutation is a MutatingAdmissionPolicy, compiled. It is immutable.
type Mutation struct {
	common
	again    bool // reinvocationPolicy
	changers []changer
	compiler *admissioncel.CompositedCompiler
}

// changer is one mutation of a policy. It returns the whole new state, which
// may be the old one; its context has the policy's variables.
type changer func(ctx context.Context, r *request, a asked, i invocation) (map[string]any, error)

// NewMutation compiles a policy, which is not changed. What does not compile
// fails whenever it is asked.
func NewMutation(p *admissionv1.MutatingAdmissionPolicy) *Mutation {
	s := &p.Spec
	m := &Mutation{again: s.ReinvocationPolicy == admissionv1.IfNeededReinvocationPolicy}
	m.common, m.compiler = compile(p.Name, spec{s.FailurePolicy, s.ParamKind, s.MatchConstraints, s.MatchConditions, s.Variables})
	if m.compiler == nil {
		return m
	}
	sees := m.sees()
	sees.HasPatchTypes = true
	for _, one := range s.Mutations {
		switch {
		case one.PatchType == admissionv1.PatchTypeJSONPatch && one.JSONPatch != nil:
			m.changers = append(m.changers, jsonPatch(m.compiler.CompileMutatingEvaluator(
				&patch.JSONPatchCondition{Expression: one.JSONPatch.Expression}, sees, environment.StoredExpressions)))
		case one.PatchType == admissionv1.PatchTypeApplyConfiguration && one.ApplyConfiguration != nil:
			m.changers = append(m.changers, overlay(m.compiler.CompileMutatingEvaluator(
				&patch.ApplyConfigurationCondition{Expression: one.ApplyConfiguration.Expression}, sees, environment.StoredExpressions)))
		default:
			m.unusable = fmt.Errorf("unknown mutation of type %q", one.PatchType)
		}
	}
	return m
}

// UnreadableMutation stands for a policy that is stored but cannot be read.
func UnreadableMutation(name string, cause error) *Mutation {
	return &Mutation{common: common{name: name, unusable: fmt.Errorf("it cannot be read: %w", cause)}}
}

// evaluated is what the expression of a mutation makes.
func evaluated(ctx context.Context, e admissioncel.MutatingEvaluator, r *request, a asked, i invocation) (ref.Val, error) {
	if wrong := e.CompilationErrors(); len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	bound := admissioncel.OptionalVariableBindings{VersionedParams: i.param, Authorizer: r.Authorizer}
	result, _, err := e.ForInput(ctx, a.attributes, a.review(), bound, a.namespace, celconfig.RuntimeCELCostBudget)
	if err == nil {
		err = result.Error
	}
	return result.EvalResult, err
}

// overlay is a mutation by what is applied.
func overlay(e admissioncel.MutatingEvaluator) changer {
	return func(ctx context.Context, r *request, a asked, i invocation) (map[string]any, error) {
		made, err := evaluated(ctx, e, r, a, i)
		if err != nil {
			return nil, err
		}
		value, ok := made.(*dynamic.ObjectVal)
		if !ok {
			return nil, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", made.Type())
		}
		if err := (&total{}).add(value); err != nil {
			return nil, err
		}
		if err := dyn.CheckTypeNames(value); err != nil {
			return nil, fmt.Errorf("type mismatch: %w", err)
		}
		part, err := plain(value.Value())
		if err != nil {
			return nil, err
		}
		part["apiVersion"], part["kind"] = a.attributes.VersionedKind.GroupVersion().String(), a.attributes.VersionedKind.Kind
		out, err := r.Overlay(ctx, i.version, part)
		if err != nil {
			return nil, fmt.Errorf("error applying patch: %w", err)
		}
		return out, nil
	}
}

// plain makes a tree of what an expression made.
func plain(value any) (map[string]any, error) {
	data, err := object.Encode(value)
	if err != nil {
		return nil, fmt.Errorf("invalid return type: %w", err)
	}
	tree, _, err := object.ParseObject(data)
	return tree, err
}

// mutated is a policy that was asked with one binding and parameter.
type mutated struct {
	policy, binding, namespace, param string
}

func (m *Mutation) key(i invocation) mutated {
	k := mutated{policy: m.name, binding: i.binding.Name}
	if p, ok := i.param.(*unstructured.Unstructured); ok {
		k.namespace, k.param = p.GetNamespace(), p.GetName()
	}
	return k
}

// do carries out one mutation.
func (m *Mutation) do(ctx context.Context, q *request, i invocation, change changer) error {
	begun := time.Now()
	err := q.change(ctx, i, change)
	seen := Decision{Policy: m.name, Binding: i.binding.Name, Mutating: true, Enforcement: Allowed, Error: Right, Elapsed: time.Since(begun)}
	if err != nil {
		seen.Enforcement, seen.Error = Denied, errorOf(err)
	}
	q.Observe(seen)
	return err
}

func (q *request) change(ctx context.Context, i invocation, change changer) error {
	a, err := q.see(ctx, i.version)
	if err != nil || a.attributes.VersionedObject.Object() == nil {
		return err
	}
	after, err := change(ctx, q, a, i)
	if err == nil {
		after, err = plain(after) // trees of both have their managedFields in one form now
	}
	if err != nil {
		return err
	}
	before, err := q.GetObjectAt(ctx, i.version)
	if err != nil || object.Equal(before, after) {
		return err
	}
	return q.Replace(ctx, i.version, after)
}
