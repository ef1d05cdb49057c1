// Package rolewarning owns the warning that a written role or binding grants
// nothing, as the gateway does not evaluate RBAC.
//
// It must not know how requests are authorized.
package rolewarning

import (
	"context"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
)

// Text is the warning.
const Text = "RBAC is not evaluated here: this object is stored and grants nothing; only members of the group system:masters are authorized"

// Warner is a validating stage of writes. It refuses nothing.
type Warner struct{}

var _ admission.Validator = Warner{}

// Name implements [admission.Plugin].
func (Warner) Name() string { return order.RoleWarning }

// Validate implements [admission.Validator].
func (Warner) Validate(_ context.Context, a admission.Attributes) error {
	if a.GetResource().GroupResource().Group == "rbac.authorization.k8s.io" && a.GetObject() != nil {
		a.Warn(Text)
	}
	return nil
}
