package filter

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// log has the end of a request write a line at the level debug, which -v 4 shows.
func log(to zerolog.Logger) api.Filter {
	return func(next api.Serve) api.Serve {
		if !to.Debug().Enabled() {
			return next
		}
		return func(ctx context.Context, c *api.Call) *reply.Response {
			began := time.Now()
			resp := next(ctx, c)
			ended(resp, func(code int) {
				user := ""
				if c.Caller.User != nil {
					user = c.Caller.User.Name
				}
				to.Debug().Str("verb", c.Verb).Str("path", c.Request.Path).Str("query", c.Query).Str("user", user).
					Str("agent", c.UserAgent).Int("code", code).Dur("ms", time.Since(began)).Str("request", c.ID).Msg("request answered")
			})
			return resp
		}
	}
}
