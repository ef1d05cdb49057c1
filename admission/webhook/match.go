package webhook

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/admission"
)

// match finds out whether the webhook is asked about a request, and at which
// version: "" for not at all.
func (h *Hook) match(ctx context.Context, a admission.Attributes, authorizer authorizer.UnconditionalAuthorizer) (version string, err error) {
	if h.spares(a) {
		return "", nil
	}
	if version, err = h.scope.Match(ctx, a); err != nil || version == "" || h.conditions == nil {
		return version, err
	}
	if met, err := h.meets(ctx, a, authorizer, version); err != nil || !met {
		return "", err
	}
	return version, nil
}
