package filter

import (
	"context"
	"net/http"
	"slices"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// methods are those of HTTP.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions, http.MethodTrace, http.MethodConnect,
}

// observe counts every request, by what it names if that exists.
func observe(by api.Observer) api.Filter {
	return func(next api.Serve) api.Serve {
		return func(ctx context.Context, c *api.Call) *reply.Response {
			shown := c.Info
			if !c.Served() {
				shown = api.Info{Verb: c.Verb}
			}
			if !c.Resource && !slices.Contains(methods, c.Method) { // clients may invent them
				shown.Verb = "other"
			}
			end := by.Begin(&shown, c.Params.DryRun())
			resp := next(ctx, c)
			switch {
			case resp.Reader != nil:
				end(outcome(c, resp.Code, -1))
			case resp.Stream == nil:
				end(outcome(c, resp.Code, max(len(resp.Body), resp.Length)))
			default:
				ended(resp, func(code int) { end(outcome(c, code, -1)) })
			}
			return resp
		}
	}
}

func outcome(c *api.Call, code, sent int) api.Outcome {
	terminated := c.Refused() || code == http.StatusGatewayTimeout && !c.PassedOn()
	return api.Outcome{Code: code, Outside: c.Outside(), Received: len(c.Body), Sent: sent, Terminated: terminated}
}

// ended calls end with the code of a reply that is ready, or of a stream when it has
// ended.
func ended(resp *reply.Response, end func(code int)) {
	if resp.Stream == nil {
		end(resp.Code)
		return
	}
	stream, code := resp.Stream, resp.Code
	resp.Stream = func(ctx context.Context, w reply.FrameWriter) { // its panics are the transport's business
		defer end(code)
		stream(ctx, w)
	}
}
