package accounting

import (
	"context"
	"time"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// Authenticator counts what another one finds out.
type Authenticator struct {
	authn.Authenticator
	Access *metrics.Access
}

// Authenticate implements [authn.Authenticator].
func (a Authenticator) Authenticate(ctx context.Context, r authn.Request) (*authn.User, bool, error) {
	began := time.Now()
	user, ok, err := a.Authenticator.Authenticate(ctx, r)
	if r.Empty() && !ok {
		return user, ok, err // nothing was shown
	}
	result, name := metrics.AuthenticationFailure, ""
	switch {
	case ok && user != nil:
		result, name = metrics.AuthenticationSuccess, user.Name
	case err != nil:
		result = metrics.AuthenticationError
	}
	a.Access.Authenticated(result, name, time.Since(began).Seconds())
	if len(r.ClientCerts) > 0 {
		a.Access.CertificateShown(r.ClientCerts[0].NotAfter.Sub(began).Seconds())
	}
	return user, ok, err
}

// Authorizer counts the answers of another one.
type Authorizer struct {
	authz.Authorizer
	Access *metrics.Access
}

// Authorize implements [authz.Authorizer].
func (a Authorizer) Authorize(ctx context.Context, of authz.Attributes) (bool, string, error) {
	began := time.Now()
	allowed, reason, err := a.Authorizer.Authorize(ctx, of)
	decision := metrics.NoOpinion
	switch {
	case err != nil:
		decision = metrics.DecisionError
	case allowed:
		decision = metrics.Allowed
	}
	a.Access.Authorized(decision, time.Since(began).Seconds())
	return allowed, reason, err
}
