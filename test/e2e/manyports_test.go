package e2e

import (
	"fmt"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestServicesOfManyPorts makes services of more node ports than a transaction of etcd has
// room for, and one that a hundred quotas count.
func TestServicesOfManyPorts(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	create := func(ports int) {
		t.Helper()
		var all []any
		for n := range ports {
			all = append(all, object{"name": fmt.Sprint("p", n), "port": n + 1})
		}
		name := fmt.Sprint("many-", ports)
		r := api.Post("/api/v1/namespaces/default/services", object{"metadata": object{"name": name}, "spec": object{"type": "NodePort", "ports": all}}).Want(201)
		seen := map[any]bool{}
		for _, p := range r.Object()["spec"].(map[string]any)["ports"].([]any) {
			seen[p.(map[string]any)["nodePort"]] = true
		}
		if len(seen) != ports || seen[nil] {
			t.Errorf("%d ports have %d node ports", ports, len(seen))
		}
	}
	for _, ports := range []int{127, 128, 130, 200} {
		create(ports)
	}
	for n := range 100 {
		api.Post("/api/v1/namespaces/default/resourcequotas", object{"metadata": object{"name": fmt.Sprint("q", n)}, "spec": object{"hard": object{"services": "999"}}}).Want(201)
	}
	api.Eventually("/api/v1/namespaces/default/resourcequotas", func(r *harness.Reply) bool {
		for _, q := range r.Object().Items() {
			if q.Str("status.hard.services") != "999" {
				return false
			}
		}
		return true
	})
	create(30)
}
