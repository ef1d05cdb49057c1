package api

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/patch"
)

func (h *Handler) patch(ctx context.Context, c *Call, t resource.Target) (*reply.Response, error) {
	sent := c.Sent()
	media, err := sent.Media()
	if err != nil || !sent.Applies(media) && !patch.Supported(types.PatchType(media), t.Version.Typed) { // before anything else is looked at
		return nil, dialect.UnsupportedPatch(t)
	}
	c.sentInstead(sent.Patch)
	return h.write(ctx, c, t, "PatchOptions", func(o resource.WriteOptions) (*resource.Written, error) {
		if sent.Applies(media) {
			return h.apply(ctx, c, t, media, o)
		}
		return h.Engine.Patch(ctx, t, types.PatchType(media), c.Body, o)
	})
}
