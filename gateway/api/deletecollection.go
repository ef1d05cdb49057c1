package api

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api/form"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

func (h *Handler) deleteCollection(ctx context.Context, c *Call, t resource.Target) (*reply.Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	list, err := c.Params.List(false, !h.NoWatchLists)
	if err != nil {
		return nil, err
	}
	o, w, err := c.Sent().DeleteOptions(c.Params)
	if err != nil {
		return nil, err
	}
	c.sentInstead(c.Sent().Options)
	unsafe(o, h.UnsafeDeletion)
	var said warnings
	w.Caller, w.Warn = c.Caller, said.add
	c.audits(&w)
	var resp *reply.Response
	t.Whole = f.Whole()
	err = h.Engine.DeleteCollection(ctx, t, list, o, w, func(l *resource.List) (err error) {
		said.missing(t, l.Missing)
		if resp, err = f.Collection(ctx, t, l, v); err == nil {
			err = c.Room(ctx, len(resp.Body))
		}
		if err == nil {
			c.repliedAs(f, func(f form.Form) (*reply.Response, error) { return f.Collection(ctx, t, l, v) })
		}
		return err
	})
	return said.on(resp, h.unlisted(ctx, t, err))
}
