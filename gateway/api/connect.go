package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Connection is a subresource that a client is connected to: a shell in a pod, for
// example. The request's body is what is sent, and nobody here looks at it.
type Connection interface {
	// Passes tells that requests are passed on: whatever verb they have, and
	// whatever path follows. Else they are a get or a create.
	Passes() bool
	// Connect returns an object or a text about the named object, which may not exist,
	// or a status error. The path is what follows the subresource, with its slash.
	Connect(ctx context.Context, t resource.Target, path string, query url.Values, o resource.WriteOptions) (any, error)
}

func (h *Handler) connect(ctx context.Context, c *Call, t resource.Target, to Connection) (*reply.Response, error) {
	if !to.Passes() && (c.Verb != "get" && c.Verb != "create" || c.Method == http.MethodHead) {
		return nil, dialect.MethodNotAllowed(t, c.Verb)
	}
	query, err := c.Params.Values()
	if err != nil {
		return nil, err
	}
	if query.Has("dryRun") {
		return nil, apierrors.NewBadRequest("dryRun is not supported")
	}
	path := c.below
	if path != "" {
		path = "/" + path
	}
	if strings.HasSuffix(c.Info.Path, "/") {
		path += "/"
	}
	var w warnings
	o := resource.WriteOptions{Caller: c.Caller, Warn: w.add}
	c.audits(&o)
	return w.on(Question{Code: http.StatusOK}.answered(to.Connect(ctx, t, path, query, o)))
}
