package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// Writes that are more than the memory of the past has room for push out what it knew:
// etcd answers lists and pages of then, with the same bytes.
func TestAFullMemoryOfThePast_RV17(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	ns, other := namespace(t, api), namespace(t, api)
	for _, name := range []string{"a", "b", "c"} {
		api.Post(configMaps(ns), configMap(t, ns, name, `{}`)).Want(201)
	}
	api.Post(configMaps(other), configMap(t, other, "fat", `{}`)).Want(201)
	all, page := api.Get(configMaps(ns)).Want(200), api.Get(configMaps(ns)+"?limit=2").Want(200).Object()
	api.Delete(configMaps(ns) + "/b").Want(200)
	exact := configMaps(ns) + "?resourceVersionMatch=Exact&resourceVersion=" + all.Object().RV()
	asked := func() float64 {
		return metric(t, api, "etcd_request_duration_seconds_count", `operation="list"`, `resource="configmaps"`)
	}
	same := func() (reads float64) {
		t.Helper()
		before := asked()
		if r := api.Get(exact).Want(200); string(r.Body) != string(all.Body) {
			t.Errorf("%s, then it was %s", r.Body, all.Body)
		}
		next(api, configMaps(ns)+"?limit=2", page).Want(200).Equal("items.0.metadata.name", "c").Equal("metadata.resourceVersion", page.RV())
		return asked() - before
	}
	if reads := same(); reads != 0 {
		t.Errorf("etcd was asked %v times for what is in memory", reads)
	}
	const size, room = 900 << 10, 256 << 20 // of an object, and of all that memory keeps of the past
	for i := range room/size + 10 {
		api.Merge(configMaps(other)+"/fat", fmt.Sprintf(`{"data":{"k":"%d %s"}}`, i, strings.Repeat("x", size))).Want(200)
	}
	if reads := same(); reads == 0 {
		t.Error("etcd was not asked, so memory has more than it should")
	}
}
