package filter

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// authorize refuses what the user may not do.
func authorize(by authz.Authorizer) api.Filter {
	return func(next api.Serve) api.Serve {
		return func(ctx context.Context, c *api.Call) *reply.Response {
			a := c.Info.Attributes(c.User)
			allowed, reason, err := by.Authorize(ctx, a)
			decided(c, allowed && err == nil, reason)
			if err := refused(a, allowed, reason, err); err != nil {
				return barred(err)
			}
			c.Caller = resource.Caller{User: c.User, UserAgent: c.UserAgent, RequestID: c.ID}
			return next(ctx, c)
		}
	}
}

// decided notes what the authorizer said.
func decided(c *api.Call, allowed bool, reason string) {
	decision := "forbid"
	if allowed {
		decision = "allow"
	}
	c.Annotate("authorization.k8s.io/decision", decision)
	c.Annotate("authorization.k8s.io/reason", reason)
}

// may asks an authorizer, and is nil if it says yes.
func may(ctx context.Context, by authz.Authorizer, a authz.Attributes) error {
	allowed, reason, err := by.Authorize(ctx, a)
	return refused(a, allowed, reason, err)
}

// refused is what a client is told of an authorizer's answer; nil of a yes.
func refused(a authz.Attributes, allowed bool, reason string, err error) error {
	switch {
	case err != nil:
		return apierrors.NewInternalError(err)
	case !allowed:
		return authz.ForbiddenError(a, reason)
	}
	return nil
}

// barred is the reply to who may not do what is asked for. Its words are in part
// those of the request, which no browser shall take for more than they are.
func barred(err error) *reply.Response {
	resp := reply.Error(err)
	if resp.Code != http.StatusUnauthorized {
		resp.Headers = append(resp.Headers, reply.NoSniff)
	}
	return resp
}
