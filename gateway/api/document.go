package api

import (
	"context"
	"net/http"

	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// Documents serves the paths that are not about objects: health, version,
// metrics, discovery, OpenAPI.
type Documents interface {
	// Serve answers a request, or returns nil when the path is not one of its
	// own. snapshot is what the request is answered from.
	Serve(ctx context.Context, r *Request, snapshot *catalog.Snapshot) *reply.Response
}

func (h *Handler) document(ctx context.Context, r *Request, s *catalog.Snapshot) *reply.Response {
	for _, d := range h.Documents {
		if resp := d.Serve(ctx, r, s); resp != nil {
			return resp
		}
	}
	if r.Method == http.MethodGet {
		return reply.Error(reply.ErrNoPath)
	}
	read := *r
	read.Method = http.MethodGet
	switch resp := h.document(ctx, &read, s); {
	case r.Method == http.MethodHead, resp.Code == http.StatusNotFound:
		return resp
	}
	return reply.Error(dialect.Unrouted(http.StatusMethodNotAllowed)) // there is something to read
}
