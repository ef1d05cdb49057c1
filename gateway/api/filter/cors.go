package filter

import (
	"context"
	"net/http"
	"regexp"
	"slices"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// cors lets pages of other servers send requests from browsers, whose origins the
// expressions match (https://fetch.spec.whatwg.org/#http-cors-protocol). What a browser
// asks ahead is answered here, as by kube-apiserver: it has no credentials.
func cors(origins []*regexp.Regexp) api.Filter {
	return func(next api.Serve) api.Serve {
		if len(origins) == 0 {
			return next
		}
		return func(ctx context.Context, c *api.Call) *reply.Response {
			origin := ""
			if c.Head != nil {
				origin = c.Head.Header().Get("Origin")
			}
			if origin == "" || !slices.ContainsFunc(origins, func(r *regexp.Regexp) bool { return r.MatchString(origin) }) {
				return next(ctx, c)
			}
			resp := &reply.Response{Code: http.StatusNoContent}
			if c.Method != http.MethodOptions {
				resp = next(ctx, c)
			}
			resp.Headers = append(resp.Headers,
				reply.Header{Name: "Access-Control-Allow-Origin", Value: origin},
				reply.Header{Name: "Access-Control-Allow-Methods", Value: "POST, GET, OPTIONS, PUT, DELETE, PATCH"},
				reply.Header{Name: "Access-Control-Allow-Headers", Value: "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since"},
				reply.Header{Name: "Access-Control-Expose-Headers", Value: "Date"},
				reply.Header{Name: "Access-Control-Allow-Credentials", Value: "true"},
			)
			return resp
		}
	}
}

// goaway has some replies close their connection, so that clients which stay with one
// gateway come to another now and then. What lasts, as a watch, goes on.
func goaway(chance float64, draw func() float64) api.Filter {
	return func(next api.Serve) api.Serve {
		if chance == 0 {
			return next
		}
		return func(ctx context.Context, c *api.Call) *reply.Response {
			resp := next(ctx, c)
			if resp.Stream == nil && draw() < chance {
				resp.Headers = append(resp.Headers, reply.Header{Name: "Connection", Value: "close"})
			}
			return resp
		}
	}
}
