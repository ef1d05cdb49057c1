package api

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// retryAfter is how many seconds a client should wait that was refused for what
// others do.
const retryAfter = 1

// enter counts a request among those of its user, unless there are too many. What
// is open to everybody is small, and asked for by who looks whether the gateway
// is well: it always comes in.
func (h *Handler) enter(c *call) error {
	if h.Bounds == nil || !c.Resource && authz.Open(c.Verb, c.Info.Path) {
		return nil
	}
	user := c.caller.User
	if h.Bounds.Enter(&c.stay, user.Name, user.In(authn.Masters), c.kind()) {
		return nil
	}
	return apierrors.NewTooManyRequests("too many requests are under way, please try again later", retryAfter)
}

// kind is what a request takes up.
func (c *call) kind() bounds.Kind {
	switch {
	case c.Resource && c.Verb == "watch":
		return bounds.Lasts
	case c.Resource && hasBody(c.Verb):
		return bounds.Changes
	}
	return bounds.Reads
}
