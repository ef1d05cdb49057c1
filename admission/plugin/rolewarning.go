package plugin

import (
	"context"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
)

// RoleWarning warns that a written role or binding grants nothing.
type RoleWarning struct{}

// Name implements [admission.Plugin].
func (RoleWarning) Name() string { return order.RoleWarning }

// Validate implements [admission.Validator]. It refuses nothing.
func (RoleWarning) Validate(_ context.Context, a admission.Attributes) error {
	if a.GetResource().Group == "rbac.authorization.k8s.io" && a.GetObject() != nil {
		a.Warn("RBAC is not evaluated here: this object is stored and grants nothing; only members of the group system:masters are authorized")
	}
	return nil
}
