package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestWhatAModuleChokesOnIsLeftOut_CRD18 has objects at which a module traps, runs out of
// memory, or gives no reply, among others.
func TestWhatAModuleChokesOnIsLeftOut_CRD18(t *testing.T) {
	harness.SkipExternal(t)
	s := harness.Shared(t)
	module := "choking-" + unique()
	pushModule(t, s.API(t), module, harness.Module(t, "testdata/faulty"), "memory", "64Mi", "timeout", "20s")
	c := newWasmCronTabs(t, s, module)
	faults := []string{"trap", "memory", "pointer", "length", "nothing"}
	for _, fault := range faults {
		o := c.object("v1beta1", "bad-"+fault, `{"host":"h"}`)
		o.Set("metadata.annotations", map[string]any{"fault": fault})
		c.api.Post(c.list("v1beta1"), o).Want(201)
	}
	c.updateDefinition(c.crdPath(), func(crd object) {
		crd.Set("metadata.annotations", map[string]any{"conversion.wasmgate.dev/unconvertible-objects": "Omit"})
	}).Want(200)
	// Nothing has been converted: it may be the module that is broken.
	c.api.Get(c.list("v1")).Want(500)
	for _, name := range []string{"a", "z"} {
		c.api.Post(c.list("v1beta1"), c.object("v1beta1", name, `{"host":"h"}`)).Want(201)
	}
	w := c.api.Watch(c.list("v1") + "?watch=1&resourceVersion=" + c.api.Get(c.list("v1")).Want(200).Object().RV())
	for range 2 {
		r := c.api.Get(c.list("v1")).Want(200)
		told := missing(t, r)
		if r.Object().Names() != "a z" || len(told) != 1+len(faults) {
			t.Errorf("%s are in the list, missing are %q", r.Object().Names(), told)
		}
		for _, fault := range faults {
			if !slices.ContainsFunc(told[min(1, len(told)):], func(w string) bool { return strings.Contains(w, "bad-"+fault) }) {
				t.Errorf("%s is not told of: %q", fault, told)
			}
		}
	}
	c.api.Get(c.path("v1", "bad-trap")).WantStatus(500, "", "the guest has had enough")

	c.api.Merge(c.path("v1beta1", "a"), `{"metadata":{"annotations":{"fault":"trap"}}}`).Want(200)
	w.Expect("DELETED", "a")
	c.api.Merge(c.path("v1beta1", "bad-memory"), `{"metadata":{"annotations":{"fault":null}}}`).Want(200)
	w.Expect("ADDED", "bad-memory")
	if got := c.api.Get(c.list("v1")).Want(200).Object().Names(); got != "bad-memory z" {
		t.Errorf("%s are in the list", got)
	}
}
