package api

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// docFunc is a document that looks at its context.
type docFunc func(ctx context.Context)

func (f docFunc) Serve(ctx context.Context, _ *Request, _ *catalog.Snapshot) *reply.Response {
	f(ctx)
	return &reply.Response{Code: 200}
}
