package quota_test

import (
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// Of several quotas those are charged that count what is written, whichever comes first.
func TestQuotasThatCountWhatIsWrittenAreCharged(t *testing.T) {
	e := gateway(t, storagetest.NewMemory())
	limit(t, e, `{"count/configmaps":"5"}`, `{"count/configmaps":"0"}`)
	for _, name := range []string{"a", "z"} {
		made, err := e.Create(t.Context(), gvr.Quotas, tree(t, "ResourceQuota", name, `,"spec":{"hard":{"pods":"5"}}`))
		if err != nil {
			t.Fatal(err)
		}
		made.Object["status"] = map[string]any{"hard": map[string]any{"pods": "5"}, "used": map[string]any{"pods": "0"}}
		if _, err := e.Update(t.Context(), gvr.Quotas, "status", made); err != nil {
			t.Fatal(err)
		}
	}
	fresh(t, e)
	if _, err := e.Create(t.Context(), configMaps, tree(t, "ConfigMap", "c", "")); err != nil {
		t.Fatal(err)
	}
	if got := used(t, e, "count/configmaps"); got != "1" {
		t.Errorf("%s are used", got)
	}
	for _, name := range []string{"a", "z"} {
		if got := controllertest.MustGet(t, e, gvr.Quotas, "work", name).Object["status"].(map[string]any)["used"].(map[string]any); len(got) != 1 || got["pods"] != "0" {
			t.Errorf("%s: %v", name, got)
		}
	}
}
