package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestRefusedServicesHoldNoAddresses has one namespace ask for more services than there are
// addresses, none of which it gets: others get theirs all the same.
func TestRefusedServicesHoldNoAddresses(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	api := harness.Start(t, harness.Options{Args: []string{"--service-cluster-ip-range=10.0.0.0/28"}}).API(t)
	const full, other = namespacePath + "/full", namespacePath + "/default/services"
	api.Post(namespacePath, object{"metadata": object{"name": "full"}}).Want(201)
	api.Post(full+"/resourcequotas", object{"metadata": object{"name": "none"}, "spec": object{"hard": object{"services": "0"}}}).Want(201)
	api.Eventually(full+"/resourcequotas/none", func(r *harness.Reply) bool { return r.Object().Str("status.hard.services") == "0" })
	service := func(name string) object {
		return object{"metadata": object{"name": name}, "spec": object{"ports": []any{object{"port": 80}}}}
	}
	for range 20 {
		api.Post(full+"/services", service("refused")).Want(403)
	}
	api.Post(other, service("one")).Want(201)
	for range 20 {
		api.Post(other, service("one")).Want(409)
	}
	api.Post(other, service("two")).Want(201)
}
