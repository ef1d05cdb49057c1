package e2e

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/wasmgate/wasmgate/storage/etcd"
	"github.com/wasmgate/wasmgate/test/harness"
)

const countedObjects = 600

// TestMigrationCounts pauses a migration in the middle of a page, ends the
// gateway that leads and then kills the next: what the migration says at the end
// of 600 objects, of which one was at the storage version before and a client
// wrote one while it ran, is what was done.
func TestMigrationCounts_CRD32(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	store, err := etcd.StartEmbedded(t.Context(), etcd.EmbeddedConfig{Dir: t.TempDir(), ListenClientURL: "http://127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	start := func() *harness.Gateway {
		return harness.Start(t, harness.Options{EtcdServers: store.ClientURL()})
	}
	first := start() // which leads
	pushModule(t, first.API(t), "crontab", harness.Module(t, crontabModule))
	c := newWasmCronTabs(t, &first.Server, "crontab")
	createMany(t, &spread{c, []string{c.ns}}, countedObjects)
	c.updateDefinition(c.crdPath(), func(crd object) { storeAt(crd, "v1") }).Want(200)
	at := func() int { return storedVersions(t, first.Etcd(t), "/registry/"+c.group+"/crontabs/")[c.group+"/v1"] }
	harness.Eventually(t, "one is at v1 before", func() bool {
		c.api.Merge(c.path("v1", "item-300"), `{"spec":{"replicas":1}}`).Want(200)
		return at() == 1
	})
	second := start()

	const path = migrationPath + "/counted"
	c.api.Post(migrationPath, object{
		"apiVersion": "storagemigration.k8s.io/v1", "kind": "StorageVersionMigration",
		"metadata": map[string]any{"name": "counted", "annotations": map[string]any{"migration.wasmgate.dev/rate": "40"}},
		"spec":     map[string]any{"resource": map[string]any{"group": c.group, "resource": "crontabs"}},
	}).Want(201)
	reach := func(n int) { harness.Eventually(t, strconv.Itoa(n)+" are at v1", func() bool { return at() >= n }) }
	pause := func(paused string) {
		c.api.Merge(path, `{"metadata":{"annotations":{"migration.wasmgate.dev/paused":"`+paused+`"}}}`).Want(200)
	}

	reach(60)
	c.api.Merge(c.path("v1", "item-590"), `{"spec":{"replicas":1}}`).Want(200)
	pause("true")
	c.api.Eventually(path, func(r *harness.Reply) bool {
		return condition(r.Object(), "Running")["reason"] == "StorageVersionMigrationPaused"
	})
	if p := countsOf(t, c.api, path); p.Rewritten+2 != at() || p.Done != p.Rewritten+p.Skipped {
		t.Errorf("paused at %+v, and %d are at v1", p, at())
	}
	pause("false")
	reach(150)
	first.Terminate(t)
	c.api = second.API(t)
	reach(250)
	first.Restart(t)
	reach(310)
	second.Kill(t)
	c.api = first.API(t)
	awaitCondition(c.api, path, "Succeeded", "True")
	if p := countsOf(t, c.api, path); p != (counts{Total: countedObjects, Done: countedObjects, Rewritten: countedObjects - 2, Skipped: 2}) {
		t.Errorf("at the end: %+v", p)
	}
}

// counts is what a migration says of itself.
type counts struct{ Total, Done, Rewritten, Skipped, Failed int }

func countsOf(t *testing.T, api *harness.API, path string) (p counts) {
	t.Helper()
	annotations, _ := api.Get(path).Want(200).Object().At("metadata.annotations").(map[string]any)
	text, _ := annotations["migration.wasmgate.dev/progress"].(string)
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return p
}
