package filter

import (
	"context"
	"time"

	"github.com/wasmgate/wasmgate/deadline"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// bounded finds out how long the request may take, and refuses what is no time,
// except of those requests that last as long as they last.
func bounded(most time.Duration) api.Filter {
	return func(next api.Serve) api.Serve {
		return func(ctx context.Context, c *api.Call) *reply.Response {
			var err error
			if c.Timeout, err = c.Params.Timeout(most); err != nil && !c.Untimed() && !c.Connects() {
				return reply.Error(err)
			}
			return next(ctx, c)
		}
	}
}

// timed ends the request when its time is over, which begins here.
func timed(next api.Serve) api.Serve {
	return func(ctx context.Context, c *api.Call) *reply.Response {
		if c.Untimed() {
			return next(ctx, c)
		}
		ctx, cancel := deadline.WithTimeout(ctx, c.Timeout)
		defer cancel()
		return next(ctx, c)
	}
}
