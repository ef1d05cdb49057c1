package admission

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apiserveradmission "k8s.io/apiserver/pkg/admission"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/wasmgate/wasmgate/crd/expressions"
	"github.com/wasmgate/wasmgate/crd/object"
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
	compiled := expressions.PlainConditions().CompileCondition(all, expressions.Sees{HasAuthorizer: true}, environment.StoredExpressions)
	return matchconditions.NewMatcher(compiled, w.FailurePolicy, "webhook", kind, w.Name)
}

// meets asks the conditions about the request at a version.
func (h *Hook) meets(ctx context.Context, r *Request, version string) (bool, error) {
	attributes, err := r.Attributes(ctx, version)
	if err != nil {
		return false, err
	}
	result := h.conditions.Match(ctx, attributes, nil, r.Authorizer)
	if result.Error != nil {
		return false, apierrors.NewForbidden(r.Resource.GroupResource(), r.Name, result.Error)
	}
	return result.Matches, nil
}

// Attributes are the request at a version in the form that the library takes.
// They belong to the caller.
func (r *Request) Attributes(ctx context.Context, version string) (*apiserveradmission.VersionedAttributes, error) {
	var states [2]runtime.Object
	for i, at := range []func(context.Context, string) (map[string]any, error){r.Objects.New, r.Objects.Old} {
		tree, err := at(ctx, version)
		if err != nil {
			return nil, err
		}
		if tree == nil {
			continue
		}
		if tree, err = complete(tree); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		states[i] = &unstructured.Unstructured{Object: tree}
	}
	out := &apiserveradmission.VersionedAttributes{
		Attributes: apiserveradmission.NewAttributesRecord(states[0], states[1], r.Kind, r.Namespace, r.Name, r.Resource,
			r.Subresource, apiserveradmission.Operation(r.Operation), r.Options, r.DryRun, r.User),
		VersionedKind: r.kindAt(version),
	}
	out.VersionedObject.Set(states[0])
	out.VersionedOldObject.Set(states[1])
	return out, nil
}

// complete is a copy of a tree whose managedFields are a tree as well.
func complete(tree map[string]any) (map[string]any, error) {
	out := object.Clone(tree)
	managed := object.Detach(out)
	if managed == nil {
		return out, nil
	}
	var list []any
	if err := json.Unmarshal(managed, &list); err != nil {
		return nil, err
	}
	out["metadata"].(map[string]any)["managedFields"] = list
	return out, nil
}
