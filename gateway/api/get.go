package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/wasmgate/wasmgate/gateway/api/form"
	"github.com/wasmgate/wasmgate/gateway/api/query"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

func (h *Handler) get(ctx context.Context, c *Call, t resource.Target) (*reply.Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	asked, err := c.Params.Get()
	if err != nil {
		return nil, err
	}
	if scaling(t) {
		return h.getScale(ctx, c, f, t, asked, v)
	}
	if c.keepsReply() {
		return h.getKept(ctx, c, f, t, asked, v)
	}
	o, err := h.Engine.Get(ctx, t, asked.ResourceVersion, f.Encoding(t))
	if err != nil {
		return nil, err
	}
	return f.Single(ctx, t, o, v)
}

// getKept answers a get whose reply is kept as JSON, too: what is sent is made of that.
func (h *Handler) getKept(ctx context.Context, c *Call, f form.Form, t resource.Target, asked query.Get, v url.Values) (*reply.Response, error) {
	plain := f.Plain()
	o, err := h.Engine.Get(ctx, t, asked.ResourceVersion, plain.Encoding(t))
	if err != nil {
		return nil, err
	}
	resp, err := plain.Single(ctx, t, o, v)
	if err != nil {
		return nil, err
	}
	c.replied(resp.Body)
	return f.Render(http.StatusOK, t.Version, resp.Body)
}

func (h *Handler) getScale(ctx context.Context, c *Call, f form.Form, t resource.Target, asked query.Get, v url.Values) (*reply.Response, error) {
	o, err := h.Engine.Get(ctx, t, asked.ResourceVersion, encoding.At(t.Version.Name))
	var data []byte
	if err == nil {
		data, err = scale.Text(scale.Paths(t.Version, t.Subresource), o.Bytes())
	}
	if err == nil {
		data, err = f.Written(ctx, t, data, v)
	}
	if err != nil {
		return nil, err
	}
	c.replied(data)
	return f.Render(http.StatusOK, t.Version, data)
}

// scaling tells a request whose body is a Scale.
func scaling(t resource.Target) bool { return scale.Paths(t.Version, t.Subresource) != nil }
