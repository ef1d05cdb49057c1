package api

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// apply answers a patch whose body is a configuration to apply.
func (h *Handler) apply(ctx context.Context, c *Call, t resource.Target, media string, o resource.WriteOptions) (*resource.Written, error) {
	config, err := c.Sent().Configuration(media, &o)
	if err != nil {
		return nil, err
	}
	o.MayCreate = mayCreate(h.Authorizer, c)
	return h.Engine.Apply(ctx, t, config, o)
}

// mayCreate authorizes the creation that an update or an apply turns into when
// the object is absent.
func mayCreate(by authz.Authorizer, c *Call) func(ctx context.Context, name string) error {
	return func(ctx context.Context, name string) error {
		a := c.Attributes(c.Caller.User)
		a.Verb, a.Name = "create", name
		allowed, reason, err := by.Authorize(ctx, a)
		switch {
		case err != nil:
			return apierrors.NewInternalError(err)
		case !allowed:
			return authz.ForbiddenError(a, reason)
		}
		return nil
	}
}
