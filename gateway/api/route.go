package api

import (
	"slices"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// deprecated tells everybody who wants to know that a deprecated version was
// asked for.
func deprecated(by Observer, c *Call, v *crd.Version, resp *reply.Response) {
	if v.Warning != "" {
		resp.Headers = slices.Insert(resp.Headers, 0, warningHeader(v.Warning))
	}
	by.Deprecated(&c.Info, v.RemovedRelease)
	c.Annotate("k8s.io/deprecated", "true")
	if v.RemovedRelease != "" {
		c.Annotate("k8s.io/removed-release", v.RemovedRelease)
	}
}
