package filter

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// own counts a connection as its user's, and ends it where the user has too many. Who
// is nobody in particular leaves it counted as its address's.
func own(next api.Serve) api.Serve {
	return func(ctx context.Context, c *api.Call) *reply.Response {
		if c.User.Name != authn.Anonymous && !c.Connection.Belongs(c.User.Name, c.User.In(authn.Masters)) {
			r := full(bounds.TooManyConnections)
			r.Headers = append(r.Headers, reply.Header{Name: "Connection", Value: "close"})
			return r
		}
		return next(ctx, c)
	}
}
