package api

import (
	"context"
	"net/http"

	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Content keeps the bytes of a subresource that is not an object, such as
// a module's.
type Content interface {
	// Get returns the bytes of the named object that have a digest, "" for those
	// that it uses, or a status error. A HEAD does not write them.
	Get(ctx context.Context, t resource.Target, digest string) (*resource.Content, error)
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
		found, err := to.Get(ctx, t, v.Get("digest"))
		if err != nil {
			return nil, err
		}
		tag := reply.Header{Name: "Etag", Value: `"` + found.Digest + `"`}
		resp := &reply.Response{
			Code: http.StatusOK, ContentType: found.ContentType, Headers: []reply.Header{tag, {Name: "X-Content-Type-Options", Value: "nosniff"}},
		}
		if c.IfNoneMatch == tag.Value {
			resp.Code = http.StatusNotModified
			return resp, nil
		}
		resp.Length, resp.Write = found.Size, found.Write
		return resp, nil
	default:
		return nil, dialect.MethodNotAllowed(t, c.Verb)
	}
	return h.write(ctx, c, t, "UpdateOptions", func(o resource.WriteOptions) (*resource.Written, error) {
		return to.Put(ctx, t, c.ContentType, c.Body, o)
	})
}
