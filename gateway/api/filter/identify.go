package filter

import (
	"context"
	"strings"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// identify finds out who sent the request. Who shows nothing is nobody in particular, at
// the paths where that is allowed.
func identify(by authn.Authenticator, anonymous func(path string) bool, log zerolog.Logger) api.Filter {
	return func(next api.Serve) api.Serve {
		return func(ctx context.Context, c *api.Call) *reply.Response {
			shown := authn.Request{BearerToken: shownToken(c), ClientCerts: c.ClientCerts, Head: c.Head, Notes: c}
			user, ok, err := by.Authenticate(ctx, shown)
			if err != nil {
				log.Debug().Err(err).Msg("credentials refused")
			}
			if !ok {
				if !shown.Empty() || anonymous == nil || !anonymous(c.Info.Path) { // who shows what is wrong is told so, even where nothing is needed
					return barred(authz.UnauthorizedError())
				}
				user = authn.AnonymousUser()
			}
			c.User, c.Caller.User = user, user
			if c.Record != nil {
				c.Record.User = user
			}
			return c.Warned(next(ctx, c))
		}
	}
}

// bearerToken is the token in an Authorization header, or "".
func bearerToken(header string) string {
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
