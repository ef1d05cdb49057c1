package filter

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// enter counts a request among those of its user, unless there are too many. What
// is open to everybody is small, and asked for by who looks whether the gateway
// is well: it always comes in.
func enter(all *bounds.Bounds) api.Filter {
	return func(next api.Serve) api.Serve {
		if all == nil {
			return next
		}
		return func(ctx context.Context, c *api.Call) *reply.Response {
			if !open(c) && !all.Enter(&c.Stay, c.User.Name, c.User.In(authn.Masters), kind(c)) {
				return reply.Error(apierrors.NewTooManyRequests("too many requests are under way, please try again later", reply.RetryAfter))
			}
			return next(ctx, c)
		}
	}
}

// kind is what a request takes up.
func kind(c *api.Call) bounds.Kind {
	switch {
	case c.Streams():
		return bounds.Lasts
	case c.Resource && hasBody(c.Verb):
		return bounds.Changes
	}
	return bounds.Reads
}

// leave gives back what a request took when its reply is ready, or has ended.
func leave(next api.Serve) api.Serve {
	return func(ctx context.Context, c *api.Call) *reply.Response {
		lasts := false
		defer func() {
			if !lasts {
				c.Stay.Leave()
			}
		}()
		resp := next(ctx, c)
		if stream := resp.Stream; stream != nil {
			lasts = true
			resp.Stream = func(ctx context.Context, w reply.FrameWriter) {
				defer c.Stay.Leave()
				stream(ctx, w)
			}
		}
		return resp
	}
}

// open reports whether what is asked for is open to everybody.
func open(c *api.Call) bool { return !c.Resource && authz.Open(c.Verb, c.Info.Path) }
