package filter

import (
	"context"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// audit has a record kept of every request, and hands it over when the request was
// answered, and when a watch began; nil is nobody who wants it.
func audit(to api.Auditor) api.Filter {
	return func(next api.Serve) api.Serve {
		if to == nil {
			return next
		}
		return func(ctx context.Context, c *api.Call) *reply.Response {
			c.Record = &api.Audit{Received: time.Now()}
			resp := next(ctx, c)
			asked := *c.Request
			asked.Body, asked.ReadBody, asked.Authorization, asked.ClientCerts = nil, nil, "", nil
			c.Record.Request, c.Record.Info = &asked, c.Info
			told := func(code int, begun bool) {
				one := *c.Record
				one.Code, one.Begun, one.Answered = code, begun, time.Now()
				to.Audit(&one)
			}
			if resp.Stream != nil {
				told(resp.Code, true)
			}
			ended(resp, func(code int) { told(code, false) })
			return resp
		}
	}
}
