package filter

import (
	"context"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// enter counts a request among those of its user, unless there are too many. What
// is open to everybody is small, and asked for by who looks whether the gateway
// is well: it always comes in.
func enter(all *bounds.Bounds) api.Filter {
	return func(next api.Serve) api.Serve {
		if all == nil {
			return next
		}
		return func(ctx context.Context, c *api.Call) *reply.Response {
			if open(c) {
				return next(ctx, c)
			}
			if err := all.Enter(&c.Stay, c.User.Name, c.User.In(authn.Masters), kind(c)); err != nil {
				c.Refuse()
				return full(err)
			}
			switch {
			case c.Resource && (c.Verb == "list" || c.Verb == "deletecollection"):
				return list(ctx, c, next)
			case c.Resource && c.Verb == "get":
				return get(ctx, c, next)
			}
			resp := next(ctx, c)
			if c.Resource && len(resp.Body) > api.LargeReply { // of a write, which took about that before
				c.Stay.Replied(len(resp.Body))
			}
			return resp
		}
	}
}

// full is the reply to who finds no room.
func full(err error) *reply.Response {
	return reply.Error(apierrors.NewTooManyRequests(err.Error(), reply.RetryAfter))
}

// perObject is about what a list keeps of each object that is not the object's own, one
// in so many bytes.
const perObject = 16

// list has a list take the memory that its reply will take alone: a little for each
// object, which others keep as well, or a body that was made for it.
func list(ctx context.Context, c *api.Call, next api.Serve) *reply.Response {
	if err := c.Stay.List(ctx, int(c.Lists()/perObject)); err != nil {
		c.Refuse()
		return full(err)
	}
	resp := next(ctx, c)
	if c.Verb == "deletecollection" {
		c.Stay.Replied(len(resp.Body))
		return resp
	}
	if err := c.Stay.List(ctx, len(resp.Body)); err != nil {
		c.Refuse()
		return full(err)
	}
	return resp
}

// get has a get take the memory of a large reply that was made for it, as of YAML.
func get(ctx context.Context, c *api.Call, next api.Serve) *reply.Response {
	resp := next(ctx, c)
	if resp.Kept {
		return resp
	}
	if err := c.Room(ctx, len(resp.Body)); err != nil {
		return reply.Error(err)
	}
	return resp
}

// kind is what a request takes up.
func kind(c *api.Call) bounds.Kind {
	switch {
	case c.Untimed(), c.Upgrades():
		return bounds.Lasts
	case c.Resource && hasBody(c.Verb):
		return bounds.Changes
	}
	return bounds.Reads
}

// leave gives back what a request took when its reply was sent, or when it is ready
// where that takes no time.
func leave(next api.Serve) api.Serve {
	return func(ctx context.Context, c *api.Call) *reply.Response {
		lasts := false
		end := func() {
			c.Seat.Leave()
			c.Watching.End()
			c.Stay.Leave()
		}
		defer func() {
			if !lasts {
				end()
			}
		}()
		resp := next(ctx, c)
		switch stream := resp.Stream; {
		case stream != nil:
			lasts = true
			resp.Stream = func(ctx context.Context, w reply.FrameWriter) {
				defer end()
				stream(ctx, w)
			}
		case resp.Write != nil, resp.Reader != nil:
			lasts = true
			c.Seat.Sends()
			resp.Done = end
		case len(resp.Body) > api.LargeReply:
			lasts = true
			c.Seat.Sends()
			body := resp.Body
			resp.Body, resp.Length, resp.Done = nil, len(body), end
			resp.Write = func(w io.Writer) error {
				_, err := w.Write(body)
				return err
			}
		}
		return resp
	}
}

// open reports whether what is asked for is open to everybody.
func open(c *api.Call) bool { return !c.Resource && authz.Open(c.Verb, c.Info.Path) }
