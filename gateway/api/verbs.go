package api

import (
	"context"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/api/query"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/patch"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

func (h *Handler) get(ctx context.Context, c *Call, t resource.Target) (*Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	asked, err := c.Params.Get()
	if err != nil {
		return nil, err
	}
	if scaling(t) {
		return h.getScale(ctx, f, t, asked, v)
	}
	o, err := h.Engine.Get(ctx, t, asked.ResourceVersion, f.encoding(t))
	if err != nil {
		return nil, err
	}
	return h.single(ctx, f, t, o, v)
}

func (h *Handler) getScale(ctx context.Context, f form, t resource.Target, asked query.Get, v url.Values) (*Response, error) {
	o, err := h.Engine.Get(ctx, t, asked.ResourceVersion, encoding.At(t.Version.Name))
	var data []byte
	if err == nil {
		data, err = scale.Text(scale.Paths(t.Version, t.Subresource), o.Bytes())
	}
	if err == nil {
		data, err = h.written(ctx, f, t, data, v)
	}
	if err != nil {
		return nil, err
	}
	return render(http.StatusOK, f, t.Version, data)
}

// scaling tells a request whose body is a Scale.
func scaling(t resource.Target) bool { return scale.Paths(t.Version, t.Subresource) != nil }

// writer does one write with the options of the request.
type writer func(o resource.WriteOptions) (*resource.Written, error)

// write runs a create, update or patch and puts its outcome into the client's
// form. kind names the options in error messages.
func (h *Handler) write(ctx context.Context, c *Call, t resource.Target, kind string, do writer) (*Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	media, _ := c.bodyMedia() // what is none the verb refuses
	o, err := c.Params.Write(kind, kind == "PatchOptions" && c.applies(media))
	if err != nil {
		return nil, err
	}
	var w warnings
	o.Warn = w.add
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
	data, err := h.written(ctx, f, t, out.Object, v)
	if err != nil {
		return w.on(nil, err)
	}
	return w.on(render(code, f, t.Version, data))
}

func (h *Handler) create(ctx context.Context, c *Call, t resource.Target) (*Response, error) {
	return h.write(ctx, c, t, "CreateOptions", func(o resource.WriteOptions) (*resource.Written, error) {
		body, err := objectBody(c.Request, t)
		if err != nil {
			return nil, err
		}
		reportDuplicates(c.Request, &o)
		if review := h.Reviews[t.Resource.GroupResource()]; review != nil {
			return h.Engine.Review(ctx, t, body, o, func(tree map[string]any) error { return review(ctx, c.Caller.User, tree) })
		}
		return h.Engine.Create(ctx, t, body, o)
	})
}

func (h *Handler) update(ctx context.Context, c *Call, t resource.Target) (*Response, error) {
	return h.write(ctx, c, t, "UpdateOptions", func(o resource.WriteOptions) (*resource.Written, error) {
		body, err := objectBody(c.Request, t)
		if err != nil {
			return nil, err
		}
		reportDuplicates(c.Request, &o)
		o.MayCreate = h.mayCreate(c)
		return h.Engine.Update(ctx, t, body, o)
	})
}

func (h *Handler) patch(ctx context.Context, c *Call, t resource.Target) (*Response, error) {
	media, err := c.bodyMedia()
	if err != nil || !c.applies(media) && !patch.Supported(types.PatchType(media), t.Version.Typed) { // before anything else is looked at
		return nil, resource.UnsupportedPatch(t)
	}
	return h.write(ctx, c, t, "PatchOptions", func(o resource.WriteOptions) (*resource.Written, error) {
		if c.applies(media) {
			return h.apply(ctx, c, t, media, o)
		}
		return h.Engine.Patch(ctx, t, types.PatchType(media), c.Body, o)
	})
}

func (h *Handler) delete(ctx context.Context, c *Call, t resource.Target) (*Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	o, w, err := deleteOptions(c.Request, c.Params)
	if err != nil {
		return nil, err
	}
	if h.unsafe(o) {
		return h.deleteUnreadable(ctx, c, f, t, o)
	}
	var said warnings
	w.Caller, w.Warn = c.Caller, said.add
	resp, err := h.deleteOne(ctx, f, t, o, w, v)
	return said.on(resp, err)
}

func (h *Handler) deleteOne(ctx context.Context, f form, t resource.Target, o *metav1.DeleteOptions, w resource.WriteOptions, v url.Values) (*Response, error) {
	out, err := h.Engine.Delete(ctx, t, o, w)
	if err != nil {
		return nil, err
	}
	if out.Deleted && out.Object == nil {
		return render(http.StatusOK, f, t.Version, statusJSON(deleted(t, out.UID)))
	}
	data, err := h.written(ctx, f, t, out.Object, v)
	if err != nil {
		return nil, err
	}
	code := http.StatusOK
	//lint:ignore SA1019 clients still send it
	if o.OrphanDependents != nil && !*o.OrphanDependents {
		code = http.StatusAccepted // who asks in the old way is told that it goes on
	}
	return render(code, f, t.Version, data)
}

// deleted is the reply for an object that is gone.
func deleted(t resource.Target, uid string) metav1.Status {
	return metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{
		Name: t.Name, Group: t.GroupResource().Group, Kind: t.Resource.Def.Plural, UID: types.UID(uid),
	}}
}

func (h *Handler) deleteCollection(ctx context.Context, c *Call, t resource.Target) (*Response, error) {
	f, v, err := c.asked(t)
	if err != nil {
		return nil, err
	}
	list, err := c.Params.List(false, !h.NoWatchLists)
	if err != nil {
		return nil, err
	}
	o, w, err := deleteOptions(c.Request, c.Params)
	if err != nil {
		return nil, err
	}
	h.unsafe(o)
	var said warnings
	w.Caller, w.Warn = c.Caller, said.add
	var resp *Response
	err = h.Engine.DeleteCollection(ctx, t, list, o, w, func(l *resource.List) (err error) {
		resp, err = h.collection(ctx, f, t, l, v)
		return err
	})
	return said.on(resp, h.unlisted(ctx, t, err))
}

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
		resp, err = h.collection(ctx, f, t, l, v)
	}
	return resp, h.unlisted(ctx, t, err)
}
