package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// A module's order shows in every document that has one, and goes with it.
func TestAnOrderShowsInEveryDocument_WP03(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	group := "orders.example.com"
	versions := func(names ...string) []object {
		var out []object
		for i, n := range names {
			out = append(out, object{"name": n, "served": true, "storage": i == 0, "schema": object{"openAPIV3Schema": object{"type": "object"}}})
		}
		return out
	}
	crd := object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "orders." + group},
		"spec": object{"group": group, "scope": "Cluster", "names": object{"plural": "orders", "singular": "order", "kind": "Order", "listKind": "OrderList"},
			"versions": versions("r2024-10", "v1", "r2025-04")}}
	api.Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).Want(201)
	preferred := func(want string) func() bool {
		return func() bool {
			r := api.Get("/apis/" + group)
			return r.Code == 200 && r.Str("preferredVersion.version") == want
		}
	}
	harness.Eventually(t, "the Kubernetes order", preferred("v1"))
	api.Post("/apis/wasmgate.dev/v1/versionpriorities", object{"apiVersion": "wasmgate.dev/v1", "kind": "VersionPriority",
		"metadata": object{"name": "newest"}, "spec": object{"groups": []string{group}, "module": "newest"}}).Want(201)
	pushModule(t, api, "newest", plugintest.Build(t, plugintest.Releases))
	harness.Eventually(t, "the module's order", preferred("r2025-04"))
	api.Get("/apis/"+group).Want(200).Equal("versions.0.version", "r2025-04").Equal("versions.1.version", "r2024-10").Equal("versions.2.version", "v1")
	api.Post(modulePath+"/newest/prioritize", object{"apiVersion": "wasmgate.dev/v1", "kind": "VersionPriorityReview",
		"request": object{"group": group, "versions": []string{"v1", "r2030-01"}}}).Want(200).Equal("response.versions.0", "r2030-01")
	api.Delete("/apis/wasmgate.dev/v1/versionpriorities/newest").Want(200)
	harness.Eventually(t, "the Kubernetes order again", preferred("v1"))
}
