package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	celtypes "github.com/google/cel-go/common/types"
	admissionreview "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserveradmission "k8s.io/apiserver/pkg/admission"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/wasmgate/wasmgate/crd/cel"
)

// Validation is a ValidatingAdmissionPolicy, compiled. It is immutable.
type Validation struct {
	common
	validations                   []admissionv1.Validation
	checks, messages, annotations admissioncel.ConditionEvaluator
	// keys are those of the annotations.
	keys []string
}

// NewValidation compiles a policy, which is not changed. What does not compile
// fails whenever it is asked.
func NewValidation(p *admissionv1.ValidatingAdmissionPolicy) *Validation {
	s := &p.Spec
	v := &Validation{validations: s.Validations}
	var compiler *admissioncel.CompositedCompiler
	v.common, compiler = compile(p.Name, spec{s.FailurePolicy, s.ParamKind, s.MatchConstraints, s.MatchConditions, s.Variables})
	if compiler == nil {
		return v
	}
	var checks, messages, annotations []admissioncel.ExpressionAccessor
	for _, one := range s.Validations {
		checks = append(checks, cel.Condition(one.Expression))
		var message admissioncel.ExpressionAccessor // there may be none
		if one.MessageExpression != "" {
			message = cel.Message(one.MessageExpression)
		}
		messages = append(messages, message)
	}
	for _, a := range s.AuditAnnotations {
		v.keys = append(v.keys, a.Key)
		annotations = append(annotations, cel.Annotation(a.ValueExpression))
	}
	v.checks = compiler.CompileCondition(checks, v.sees(), environment.StoredExpressions)
	v.messages = compiler.CompileCondition(messages, cel.Sees{HasParams: s.ParamKind != nil}, environment.StoredExpressions)
	v.annotations = compiler.CompileCondition(annotations, v.sees(), environment.StoredExpressions)
	return v
}

// UnreadableValidation stands for a policy that is stored but cannot be read.
func UnreadableValidation(name string, cause error) *Validation {
	return &Validation{common: common{name: name, unusable: fmt.Errorf("it cannot be read: %w", cause)}}
}

// decision is what a validation says.
type decision struct {
	denies bool
	cause  error // why it could not be evaluated
	// always: whatever the actions of the binding are.
	always  bool
	message string
	reason  metav1.StatusReason
	elapsed time.Duration
}

// asked is what the expressions of a policy see.
type asked struct {
	attributes *apiserveradmission.VersionedAttributes
	resource   metav1.GroupVersionResource // at the version that matched
	namespace  *corev1.Namespace           // nil outside of namespaces
}

// review is the request as expressions see it.
func (a asked) review() *admissionreview.AdmissionRequest {
	return admissioncel.CreateAdmissionRequest(a.attributes.Attributes, a.resource, metav1.GroupVersionKind(a.attributes.VersionedKind))
}

// failure is the decision when something cannot be evaluated.
func (v *Validation) failure(err error) decision {
	return decision{denies: !v.ignores, cause: err, message: err.Error()}
}

// judge evaluates a policy with one parameter.
func (v *Validation) judge(ctx context.Context, r *request, a asked, i invocation) []decision {
	if v.conditions != nil {
		result := v.conditions.Match(ctx, a.attributes, i.param, r.Authorizer)
		if result.Error != nil {
			return []decision{v.failure(result.Error)}
		}
		if !result.Matches {
			return nil
		}
	}
	request := a.review()
	bound := admissioncel.OptionalVariableBindings{VersionedParams: i.param, Authorizer: r.Authorizer}
	shown := admissioncel.CreateNamespaceObject(a.namespace)
	checks, left, err := v.checks.ForInput(ctx, a.attributes, request, bound, shown, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return []decision{v.failure(err)}
	}
	messages, _, messageErr := v.messages.ForInput(ctx, a.attributes, request, admissioncel.OptionalVariableBindings{VersionedParams: i.param}, shown, left)
	out := make([]decision, len(checks))
	for n, check := range checks {
		switch {
		case check.Error != nil:
			out[n] = v.failure(check.Error)
		case errors.Is(messageErr, apiservercel.ErrInternal), errors.Is(messageErr, apiservercel.ErrOutOfBudget):
			out[n] = v.failure(fmt.Errorf("failed messageExpression: %w", messageErr))
		case check.EvalResult != celtypes.True:
			var message admissioncel.EvaluationResult
			if n < len(messages) {
				message = messages[n]
			}
			out[n] = v.denial(n, message)
		}
		out[n].elapsed = check.Elapsed
	}
	annotations, _, err := v.annotations.ForInput(ctx, a.attributes, request, bound, a.namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return []decision{v.failure(err)}
	}
	r.audited.note(v.keys, annotations)
	if v.ignores {
		return out
	}
	for _, e := range annotations {
		if e.Error != nil {
			out = append(out, decision{denies: true, cause: e.Error, always: true, message: e.Error.Error(), elapsed: e.Elapsed})
		}
	}
	return out
}

// denial is what a validation says that is not met.
func (v *Validation) denial(n int, message admissioncel.EvaluationResult) decision {
	one := v.validations[n]
	d := decision{denies: true, reason: metav1.StatusReasonInvalid}
	if one.Reason != nil {
		d.reason = *one.Reason
	}
	if message.Error == nil && message.EvalResult != nil {
		d.message, _ = message.EvalResult.Value().(string)
		d.message = strings.TrimSpace(d.message)
		if len(d.message) > celconfig.MaxEvaluatedMessageExpressionSizeBytes || strings.Contains(d.message, "\n") {
			d.message = ""
		}
	}
	if d.message == "" {
		d.message = strings.TrimSpace(one.Message)
	}
	if d.message == "" {
		d.message = "failed expression: " + strings.TrimSpace(one.Expression)
	}
	return d
}
