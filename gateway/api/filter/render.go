package filter

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// render puts refusals into a form that the client takes, and compresses what is large.
func render(next api.Serve) api.Serve {
	return func(ctx context.Context, c *api.Call) *reply.Response {
		resp := next(ctx, c)
		c.Render(resp)
		return resp
	}
}
