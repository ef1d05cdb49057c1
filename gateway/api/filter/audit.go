package filter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// audit has a record kept of every request, at the stages that its reply goes through;
// nil is nobody who wants it.
func audit(to api.Auditor) api.Filter {
	return func(next api.Serve) api.Serve {
		if to == nil {
			return next
		}
		return func(ctx context.Context, c *api.Call) *reply.Response {
			c.Record = &api.Audit{Received: time.Now()}
			resp := next(ctx, c)
			if c.Record == nil { // nobody wants to know
				return resp
			}
			if !c.Record.IsJudged() && !early(to, c) {
				return resp
			}
			ending(to, c, resp)
			return resp
		}
	}
}

// early judges what was refused before it was known who asks, and reports whether it
// is kept.
func early(to api.Auditor, c *api.Call) bool {
	keep := to.Judge(&c.Info, nil)
	if keep.ByPolicy && keep.Level != api.KeepNone {
		keep.Omit = keep.Omit.With(api.Complete)
	}
	if keep.Level == api.KeepResponse {
		c.Record.Replied = c.Record.Status
	}
	c.Record.Judged(keep)
	return keep.Level != api.KeepNone
}

// judged asks what is kept of a request, now that it is known who asks, and keeps that
// it came.
func judged(to api.Auditor) api.Filter {
	return func(next api.Serve) api.Serve {
		if to == nil {
			return next
		}
		return func(ctx context.Context, c *api.Call) *reply.Response {
			keep := to.Judge(&c.Info, c.User)
			if keep.Level == api.KeepNone {
				c.Record = nil
				return next(ctx, c)
			}
			c.Record.Judged(keep)
			if !told(to, c, api.Received, 0) {
				c.Record = nil
				return reply.Error(apierrors.NewInternalError(errors.New("failed to store audit event")))
			}
			return next(ctx, c)
		}
	}
}

// ending keeps the stages that a reply goes through.
func ending(to api.Auditor, c *api.Call, resp *reply.Response) {
	switch {
	case c.Record.Panic != "":
		told(to, c, api.Panicked, http.StatusInternalServerError)
		return
	case resp.Stream == nil:
		if c.Record.ByPolicy && (c.Record.User == nil || c.Lasts()) {
			told(to, c, api.Started, resp.Code)
		}
		told(to, c, api.Complete, resp.Code)
		return
	}
	told(to, c, api.Started, resp.Code)
	stream, code := resp.Stream, resp.Code
	resp.Stream = func(ctx context.Context, w reply.FrameWriter) {
		stage := api.Panicked // which is the transport's business
		c.Record.Panic = "the stream failed"
		defer func() { told(to, c, stage, code) }()
		stream(ctx, w)
		stage, c.Record.Panic = api.Complete, ""
	}
}

// told hands over the record of a call at a stage, unless that is not kept, and reports
// whether the request may go on.
func told(to api.Auditor, c *api.Call, stage api.Stage, code int) bool {
	if c.Record.Omit.Has(stage) {
		return true
	}
	asked := *c.Request
	asked.Body, asked.ReadBody, asked.OpenBody, asked.Authorization, asked.ClientCerts = nil, nil, nil, "", nil
	asked.Context, asked.Head, asked.Connection, asked.Memory = nil, nil, nil, nil // the record may outlast them
	one := *c.Record
	one.Request, one.Info = &asked, c.Info
	one.Stage, one.Code, one.At = stage, code, time.Now()
	if stage == api.Received {
		one.At = one.Received
	}
	if stage == api.Received || stage == api.Started { // there may be more to say until the end
		one.Annotations = maps.Clone(one.Annotations)
	}
	return to.Audit(&one)
}

// panicked notes what a panic of a request said.
func panicked(c *api.Call, p any) {
	const most = 1024
	if c.Record == nil {
		return
	}
	said := fmt.Sprint(p)
	c.Record.Panic = "APIServer panic'd: " + said[:min(len(said), most)]
}
