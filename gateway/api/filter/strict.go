package filter

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// strict has replies tell browsers to come by TLS alone (RFC 6797), unless header is empty.
func strict(header string) api.Filter {
	return func(next api.Serve) api.Serve {
		if header == "" {
			return next
		}
		return func(ctx context.Context, c *api.Call) *reply.Response {
			resp := next(ctx, c)
			resp.Headers = append(resp.Headers, reply.Header{Name: "Strict-Transport-Security", Value: header})
			return resp
		}
	}
}
