package api

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

func (h *Handler) list(ctx context.Context, c *Call, t resource.Target) (*Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	o, err := c.Params.List(false, !h.NoWatchLists)
	if err != nil {
		return nil, err
	}
	if f.count {
		all := *o
		all.Limit, o = 0, &all // there are no pages of what is not sent
	}
	var resp *Response
	l, err := h.Engine.List(ctx, t, o)
	if err == nil {
		resp, err = f.collection(ctx, t, l, v)
	}
	return resp, h.unlisted(ctx, t, err)
}
