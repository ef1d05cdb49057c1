package filter

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// classify finds out what the request is about.
func classify(next api.Serve) api.Serve {
	return func(ctx context.Context, c *api.Call) *reply.Response {
		c.Classify()
		return next(ctx, c)
	}
}
