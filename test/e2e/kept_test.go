package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// The priority classes of the system are refused to who deletes one of them, and stay
// where many are deleted.
func TestACollectionGoesButForWhatItsKindKeeps(t *testing.T) {
	t.Parallel()
	api := harness.Shared(t).API(t)
	const classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
	api.Merge(classes+"/system-node-critical", `{"metadata":{"labels":{"kept":"yes"}}}`).Want(200)
	t.Cleanup(func() { api.Merge(classes+"/system-node-critical", `{"metadata":{"labels":{"kept":null}}}`).Want(200) })
	for _, name := range []string{"kept-a", "zz-kept"} {
		api.Post(classes, `{"metadata":{"name":"`+name+`","labels":{"kept":"yes"}},"value":1}`).Want(201)
	}
	api.Delete(classes+"/system-node-critical").WantStatus(403, "Forbidden", "this is a system priority class and cannot be deleted")
	api.Delete(classes + "?labelSelector=kept%3Dyes&dryRun=All").Want(200)
	api.Get(classes + "/kept-a").Want(200)
	api.Delete(classes + "?labelSelector=kept%3Dyes").Want(200)
	for name, code := range map[string]int{"kept-a": 404, "zz-kept": 404, "system-node-critical": 200} {
		api.Get(classes + "/" + name).Want(code)
	}
}
