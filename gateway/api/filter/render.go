package filter

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// render puts refusals into a form that the client takes, and compresses what is large.
func render(next api.Serve) api.Serve {
	return func(ctx context.Context, c *api.Call) *api.Response {
		resp := next(ctx, c)
		c.Render(resp)
		return resp
	}
}
