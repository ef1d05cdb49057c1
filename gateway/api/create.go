package api

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Review answers an object of a kind that is a question, whose status it sets;
// user asks, and notes are told what is noteworthy. An error is the client's.
type Review = func(ctx context.Context, user *authn.User, notes authn.Notes, review map[string]any) error

func (h *Handler) create(ctx context.Context, c *Call, t resource.Target) (*reply.Response, error) {
	return h.write(ctx, c, t, "CreateOptions", func(o resource.WriteOptions) (*resource.Written, error) {
		body, err := c.Sent().Object(t, &o)
		if err != nil {
			return nil, err
		}
		c.sent(body)
		if review := h.Reviews[t.Resource.GroupResource()]; review != nil {
			return h.Engine.Review(ctx, t, body, o, func(tree map[string]any) error { return review(ctx, c.Caller.User, c, tree) })
		}
		return h.Engine.Create(ctx, t, body, o)
	})
}
