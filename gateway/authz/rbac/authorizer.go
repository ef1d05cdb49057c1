package rbac

import (
	"context"
	"errors"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Source knows the policy in force. It is safe for concurrent use, and cheap to ask.
type Source interface {
	// Policy is the policy in force, or nil before the roles are known.
	Policy() *Policy
}

// Authorizer lets users do what the roles that they are bound to allow.
type Authorizer struct{ Source }

const unknown = "RBAC: the roles are not read yet, which /readyz tells"

var errUnknown = errors.New(unknown)

// Authorize implements [authz.Authorizer]. Before the roles are known it refuses
// everything but what tells whether they are.
func (r Authorizer) Authorize(_ context.Context, a authz.Attributes) (allowed bool, reason string, err error) {
	p := r.Policy()
	if p == nil {
		if !a.ResourceRequest && authz.Open(a.Verb, a.Path) {
			return true, "", nil
		}
		return false, unknown, nil
	}
	allowed, reason = p.Authorize(a)
	return allowed, reason, nil
}

// Rules implements [authz.Lister].
func (r Authorizer) Rules(user *authn.User, namespace string) ([]rbacv1.PolicyRule, error) {
	p := r.Policy()
	if p == nil {
		return nil, errUnknown
	}
	return p.Rules(user, namespace)
}
