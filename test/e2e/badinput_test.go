package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story/refusals"
)

// TestBadInput sends what no client should: every request is refused with a
// Status in kube-apiserver's words, as recorded, nothing is stored, and the
// server goes on.
func TestBadInput(t *testing.T) {
	s := harness.Shared(t)
	api := s.API(t)
	t.Cleanup(func() {
		_, _ = api.Try("DELETE", crdPath+"/crontabs."+refusals.Group, nil)
	})
	t.Run("requests", func(t *testing.T) { tellAll(t, refusals.Stories(), refusals.Table) })
	api.Get(refusals.There).Want(200).Equal("metadata.generation", "1").Equal("spec", "")
	api.Get(refusals.CronTabs + "/x").Want(404)
	api.Get("/readyz").Want(200)
}

func TestTooLarge(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.run("a body above the limit", func(t *testing.T, c *cronTabs) {
		o := c.object("v1", "big", `{}`)
		o.Set("spec.host", strings.Repeat("x", 4<<20))
		c.api.Post(c.list("v1"), o).WantStatus(413, "RequestEntityTooLarge", "limit is 3145728")
	})
	c.run("an object that etcd cannot take", func(t *testing.T, c *cronTabs) {
		o := c.object("v1", "big", `{}`)
		o.Set("spec.host", strings.Repeat("x", 2<<20))
		r := c.api.Post(c.list("v1"), o).Want(413, 500)
		if !c.s.External { // kube-apiserver calls it an error of its own
			r.WantStatus(413, "RequestEntityTooLarge", "the object is too large to be stored")
		}
	})
	c.api.Get(c.path("v1", "big")).Want(404)
	c.api.Post(c.list("v7"), c.object("v7", "x", `{}`)).Want(404)
}
