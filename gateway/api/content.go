package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Content keeps the bytes of a subresource that is not an object, such as
// a module's.
type Content interface {
	// Get returns the bytes of the named object that have a digest, "" for those
	// that it uses, with an Etag, or a status error. They are read by the reply's
	// Write, which a HEAD does not call.
	Get(ctx context.Context, t resource.Target, digest string) (*reply.Response, error)
	// Put stores body for the named object and returns the object as it then
	// is, or a status error.
	Put(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (*resource.Written, error)
	// MaxBytes is the largest body that Put takes.
	MaxBytes() int
}

func (h *Handler) keep(ctx context.Context, c *Call, t resource.Target, to Content) (*reply.Response, error) {
	switch c.Verb {
	case "update":
	case "get":
		v, err := c.Params.Values()
		if err != nil {
			return nil, err
		}
		resp, err := to.Get(ctx, t, v.Get("digest"))
		if err == nil && slices.Contains(resp.Headers, reply.Header{Name: "Etag", Value: c.IfNoneMatch}) {
			return &reply.Response{Code: http.StatusNotModified, ContentType: resp.ContentType, Headers: resp.Headers}, nil
		}
		return resp, err
	default:
		return nil, dialect.MethodNotAllowed(t, c.Verb)
	}
	return h.write(ctx, c, t, "UpdateOptions", func(o resource.WriteOptions) (*resource.Written, error) {
		return to.Put(ctx, t, c.ContentType, c.Body, o)
	})
}
