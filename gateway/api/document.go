package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Documents serves the paths that are not about objects: health, version,
// metrics, discovery, OpenAPI.
type Documents interface {
	// Serve answers a request, or returns nil when the path is not one of its
	// own. snapshot is what the request is answered from.
	Serve(ctx context.Context, r *Request, snapshot *catalog.Snapshot) *reply.Response
}

// Memory is where that of a large reply comes from, which is given back when it was sent.
type Memory = resource.Room

// describedWithin is how long discovery waits for the store to say whether there are
// other definitions. While it does not answer, what is known is told.
const describedWithin = 2 * time.Second

// described answers a request that is not about objects: for what describes the kinds by
// what is in force.
func (h *Handler) described(ctx context.Context, c *Call) *reply.Response {
	if describes(c.Request.Path) && h.ready() && h.Engine.Healthy() == nil {
		within, cancel := context.WithTimeout(ctx, describedWithin)
		_ = h.Engine.AllInForce(within)
		cancel()
	}
	c.Memory = c
	return h.document(ctx, c.Request, h.find(c))
}

// describes tells the paths of discovery and OpenAPI.
func describes(path string) bool {
	return path == "/apis" || strings.HasPrefix(path, "/apis/") || strings.HasPrefix(path, "/openapi/")
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
