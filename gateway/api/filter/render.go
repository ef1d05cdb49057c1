package filter

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// render puts refusals into a form that the client takes, and compresses what is large.
// What others keep, and is compressed for this client, takes memory from then on.
func render(next api.Serve) api.Serve {
	return func(ctx context.Context, c *api.Call) *reply.Response {
		resp := next(ctx, c)
		kept := resp.Kept
		c.Render(resp)
		if kept && !resp.Kept {
			if err := c.Room(ctx, len(resp.Body)); err != nil {
				resp = reply.Error(err)
				c.Render(resp)
			}
		}
		return resp
	}
}
