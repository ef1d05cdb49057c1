package api

import (
	"context"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/api/form"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

func (h *Handler) delete(ctx context.Context, c *Call, t resource.Target) (*reply.Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	o, w, err := c.Sent().DeleteOptions(c.Params)
	if err != nil {
		return nil, err
	}
	c.sentInstead(c.Sent().Options)
	if unsafe(o, h.UnsafeDeletion) {
		return h.deleteUnreadable(ctx, c, f, t, o)
	}
	var said warnings
	w.Caller, w.Warn = c.Caller, said.add
	c.audits(&w)
	w.Room = c
	resp, err := h.deleteOne(ctx, c, f, t, o, w, v)
	return said.on(resp, err)
}

func (h *Handler) deleteOne(ctx context.Context, c *Call, f form.Form, t resource.Target, o *metav1.DeleteOptions, w resource.WriteOptions, v url.Values) (*reply.Response, error) {
	out, err := h.Engine.Delete(ctx, t, o, w)
	if err != nil {
		return nil, err
	}
	if out.Deleted && out.Object == nil {
		said := reply.Status(deleted(t, out.UID))
		if c.Record != nil {
			c.Record.Status = said
		}
		c.replied(said)
		return f.Render(http.StatusOK, t.Version, said)
	}
	data, err := f.Written(ctx, t, out.Object, v)
	if err != nil {
		return nil, err
	}
	c.replied(data)
	code := http.StatusOK
	//lint:ignore SA1019 clients still send it
	if o.OrphanDependents != nil && !*o.OrphanDependents {
		code = http.StatusAccepted // who asks in the old way is told that it goes on
	}
	return f.Render(code, t.Version, data)
}

// deleted is the reply for an object that is gone.
func deleted(t resource.Target, uid string) metav1.Status {
	return metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{
		Name: t.Name, Group: t.GroupResource().Group, Kind: t.Resource.Def.Plural, UID: types.UID(uid),
	}}
}
