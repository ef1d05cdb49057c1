// Package rolewarning owns the warning that a written role or binding grants
// nothing, as the gateway does not evaluate RBAC.
//
// It must not know how requests are authorized.
package rolewarning

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Text is the warning.
const Text = "RBAC is not evaluated here: this object is stored and grants nothing; only members of the group system:masters are authorized"

// Warner is a validating stage of writes. It refuses nothing.
type Warner struct{}

var _ resource.Validator = Warner{}

// Validate implements [resource.Validator].
func (Warner) Validate(_ context.Context, w *resource.Write) error {
	if w.Resource.GroupResource().Group == "rbac.authorization.k8s.io" && w.Object() != nil && w.Options.Warn != nil {
		w.Options.Warn(Text)
	}
	return nil
}
