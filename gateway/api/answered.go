package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

func (h *Handler) question(ctx context.Context, c *Call, t resource.Target, q Question) (*Response, error) {
	if c.Verb != q.Verb() || c.bodiless(t) {
		return methodNotAllowed(t, c.Verb), nil
	}
	if c.Verb != "create" {
		return q.Answer(ctx, t, "", nil, resource.WriteOptions{})
	}
	if _, err := c.offer(t).negotiate(c.Accept); err != nil {
		return nil, err
	}
	o, err := c.Params.Write("CreateOptions", false)
	if err != nil {
		return nil, err
	}
	var w warnings
	o.Warn = w.add
	contentType, body, err := questionBody(c.Request)
	if err != nil {
		return nil, err
	}
	c.Caller.FieldManager = o.Caller.FieldManager
	o.Caller = c.Caller
	return w.on(q.Answer(ctx, t, contentType, body, o))
}

func (h *Handler) content(ctx context.Context, c *Call, t resource.Target, to Content) (*Response, error) {
	switch c.Verb {
	case "update":
	case "get":
		v, err := c.Params.Values()
		if err != nil {
			return nil, err
		}
		resp, err := to.Get(ctx, t, v.Get("digest"))
		if err == nil && slices.Contains(resp.Headers, Header{"Etag", c.IfNoneMatch}) {
			return &Response{Code: http.StatusNotModified, ContentType: resp.ContentType, Headers: resp.Headers}, nil
		}
		return resp, err
	default:
		return methodNotAllowed(t, c.Verb), nil
	}
	return h.write(ctx, c, t, "UpdateOptions", func(o resource.WriteOptions) (*resource.Written, error) {
		return to.Put(ctx, t, c.ContentType, c.Body, o)
	})
}
