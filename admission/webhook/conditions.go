package webhook

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/cel"
)

// compileConditions returns nil when there are none. A condition that does not
// compile fails whenever it is asked.
func compileConditions(w *admissionv1.MutatingWebhook, mutating bool) matchconditions.Matcher {
	if len(w.MatchConditions) == 0 {
		return nil
	}
	all := make([]admissioncel.ExpressionAccessor, len(w.MatchConditions))
	for i, c := range w.MatchConditions {
		all[i] = &matchconditions.MatchCondition{Name: c.Name, Expression: c.Expression}
	}
	kind := "validating"
	if mutating {
		kind = "admit"
	}
	compiled := cel.PlainConditions().CompileCondition(all, cel.Sees{HasAuthorizer: true}, environment.StoredExpressions)
	return matchconditions.NewMatcher(compiled, w.FailurePolicy, "webhook", kind, w.Name)
}

// meets asks the conditions about the request at a version.
func (h *Hook) meets(ctx context.Context, a admission.Attributes, authorizer authorizer.UnconditionalAuthorizer, version string) (bool, error) {
	attributes, err := admission.Versioned(ctx, a, version)
	if err != nil {
		return false, err
	}
	result := h.conditions.Match(ctx, attributes, nil, authorizer)
	if result.Error != nil {
		return false, apierrors.NewForbidden(a.GetResource().GroupResource(), a.GetName(), result.Error)
	}
	return result.Matches, nil
}
