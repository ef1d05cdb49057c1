package api

import (
	"context"
	"net/http"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// writer does one write with the options of the request.
type writer func(o resource.WriteOptions) (*resource.Written, error)

// write runs a create, update or patch and puts its outcome into the client's
// form. kind names the options in error messages.
func (h *Handler) write(ctx context.Context, c *Call, t resource.Target, kind string, do writer) (*reply.Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	media, _ := c.Sent().Media() // what is none the verb refuses
	o, err := c.Params.Write(kind, kind == "PatchOptions" && c.Sent().Applies(media))
	if err != nil {
		return nil, err
	}
	var w warnings
	o.Warn = w.add
	c.audits(&o)
	o.Room = c
	c.Caller.FieldManager, c.Caller.Force = o.Caller.FieldManager, o.Caller.Force
	o.Caller = c.Caller
	out, err := do(o)
	if err != nil {
		return w.on(nil, err)
	}
	code := http.StatusOK
	if out.Created {
		code = http.StatusCreated
	}
	data, err := f.Written(ctx, t, out.Object, v)
	if err != nil {
		return w.on(nil, err)
	}
	c.replied(data)
	return w.on(f.Render(code, t.Version, data))
}
