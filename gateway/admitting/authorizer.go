package admitting

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// authorizes answers conditions.
type authorizes struct{ authz.Authorizer }

// Authorize implements [authorizer.UnconditionalAuthorizer].
func (a authorizes) Authorize(ctx context.Context, q authorizer.Attributes) (authorizer.Decision, string, error) {
	u := q.GetUser()
	var narrowed authz.Selectors
	narrowed.Fields, narrowed.FieldsErr = q.GetFieldSelector()
	narrowed.Labels, narrowed.LabelsErr = q.GetLabelSelector()
	allowed, reason, err := a.Authorizer.Authorize(ctx, authz.Attributes{
		User: &authn.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()},
		Verb: q.GetVerb(), Group: q.GetAPIGroup(), Version: q.GetAPIVersion(), Resource: q.GetResource(), Subresource: q.GetSubresource(),
		Namespace: q.GetNamespace(), Name: q.GetName(), Selectors: narrowed, Path: q.GetPath(), ResourceRequest: q.IsResourceRequest(),
	})
	if allowed {
		return authorizer.DecisionAllow, reason, err
	}
	return authorizer.DecisionNoOpinion, reason, err
}
