package api

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

func (h *Handler) update(ctx context.Context, c *Call, t resource.Target) (*reply.Response, error) {
	return h.write(ctx, c, t, "UpdateOptions", func(o resource.WriteOptions) (*resource.Written, error) {
		body, err := c.Sent().Object(t, &o)
		if err != nil {
			return nil, err
		}
		c.sent(body)
		o.MayCreate = mayCreate(h.Authorizer, c)
		return h.Engine.Update(ctx, t, body, o)
	})
}
