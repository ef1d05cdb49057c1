package api

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/api/form"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// verbUnsafe is what somebody must be allowed, besides delete, to delete what
// cannot be read.
const verbUnsafe = "unsafe-delete-ignore-read-errors"

// unsafe reports whether options ask for the deletion of what cannot be read. The
// option does nothing, and is dropped, while the feature is off.
func unsafe(o *metav1.DeleteOptions, on bool) bool {
	if !on {
		o.IgnoreStoreReadErrorWithClusterBreakingPotential = nil
	}
	asked := o.IgnoreStoreReadErrorWithClusterBreakingPotential
	return asked != nil && *asked
}

// unlisted is the error of a list. To who may be about to delete what cannot be
// read it names that.
func (h *Handler) unlisted(ctx context.Context, t resource.Target, err error) error {
	if err == nil || !h.UnsafeDeletion {
		return err
	}
	return h.Engine.NameUnreadable(ctx, t, err)
}

func (h *Handler) deleteUnreadable(ctx context.Context, c *Call, f form.Form, t resource.Target, o *metav1.DeleteOptions) (*reply.Response, error) {
	c.Annotate("apiserver.k8s.io/unsafe-delete-ignore-read-error", "")
	a := c.Info.Attributes(c.Caller.User)
	a.Verb = verbUnsafe
	allowed, reason, err := h.Authorizer.Authorize(ctx, a)
	switch {
	case err != nil:
		return nil, apierrors.NewForbidden(t.GroupResource(), t.Name, fmt.Errorf("error while checking permission for %q, %w", verbUnsafe, err))
	case !allowed:
		return nil, apierrors.NewForbidden(t.GroupResource(), t.Name, fmt.Errorf("not permitted to do %q, reason: %s", verbUnsafe, reason))
	}
	if err := h.Engine.DeleteUnreadable(ctx, t, o); err != nil {
		return nil, err
	}
	s := deleted(t, "")
	s.Details.Kind = t.Resource.Def.Kind // as kube-apiserver has it here
	return f.Render(http.StatusOK, t.Version, reply.Status(s))
}
