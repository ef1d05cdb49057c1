package filter

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

var errPanic = errors.New("this request caused apiserver to panic. Look in the logs for details")

// failed is the reply to a request that panicked.
func failed(context.Context, *api.Call) *reply.Response {
	return reply.Error(apierrors.NewInternalError(errPanic))
}

// recovered has instead answer requests that panic. Streams panic later: that is the
// transport's business.
func recovered(log zerolog.Logger, instead api.Serve) api.Filter {
	return func(next api.Serve) api.Serve {
		return func(ctx context.Context, c *api.Call) (resp *reply.Response) {
			defer func() {
				if p := recover(); p != nil {
					log.Error().Interface("panic", p).Str("path", c.Request.Path).Str("request", c.ID).Bytes("stack", debug.Stack()).Msg("request failed")
					panicked(c, p)
					resp = instead(ctx, c)
				}
			}()
			return next(ctx, c)
		}
	}
}
