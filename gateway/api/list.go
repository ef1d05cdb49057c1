package api

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/api/form"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

func (h *Handler) list(ctx context.Context, c *Call, t resource.Target) (*reply.Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	o, err := c.Params.List(false, !h.NoWatchLists)
	if err != nil {
		return nil, err
	}
	if f.Counts() {
		o = uncut(*o)
	}
	var resp *reply.Response
	var said warnings
	t.Whole = f.Whole()
	l, err := h.Engine.List(ctx, t, o)
	if err == nil {
		err = c.take(ctx, 2*l.Past) // as it was stored, and as it is shown
	}
	if err == nil {
		said.missing(t, l.Missing)
		resp, err = f.Collection(ctx, t, l, v)
	}
	if err == nil {
		c.repliedAs(f, func(f form.Form) (*reply.Response, error) { return f.Collection(ctx, t, l, v) })
	}
	return said.on(resp, h.unlisted(ctx, t, err))
}

// uncut are the options of a list whose objects are not sent, so that there are no
// pages of it. The first page of a revision is of exactly that one, and so is this.
func uncut(o internalversion.ListOptions) *internalversion.ListOptions {
	if o.Limit > 0 && o.Continue == "" && o.ResourceVersionMatch == "" && o.ResourceVersion != "" && o.ResourceVersion != "0" {
		o.ResourceVersionMatch = metav1.ResourceVersionMatchExact
	}
	o.Limit = 0
	return &o
}
