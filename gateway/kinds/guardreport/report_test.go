package guardreport

import (
	"maps"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds"
)

// A gateway without guards reports where others have some, whose reports last as long as
// these gateways.
func TestReportsLastAsLongAsTheirGateways(t *testing.T) {
	objects := controllertest.New(&crd.Definition{Group: reports.Group, Plural: reports.Resource, Kind: "GuardReport", StorageVersion: "v1", KeyPrefix: reports.Resource})
	drift := map[string]int{}
	r := New(objects, nil, "here:6443", func(plugin string, gateways int) { drift[plugin] = gateways })
	now := time.Now().Truncate(time.Second) // reports have no finer times
	r.now = func() time.Time { return now }
	report := func(names int, want map[string]int) {
		t.Helper()
		if err := r.Report(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := objects.List(t.Context(), reports, "")
		if err != nil || len(all) != names || !maps.Equal(drift, want) {
			t.Fatalf("%d reports, %v, %v", len(all), drift, err)
		}
	}
	report(0, map[string]int{})
	controllertest.MustCreate(t, objects, reports, map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "GuardReport", "metadata": map[string]any{"name": kinds.Identity("there:6443")},
		"status": map[string]any{"gateway": "there:6443", "renewTime": now.UTC().Format(time.RFC3339), "folders": []any{map[string]any{"plugin": "P", "hash": "sha256:1"}}}})
	report(2, map[string]int{"P": 1})
	report(2, map[string]int{"P": 1})
	now = now.Add(gone)
	report(2, map[string]int{"P": 0}) // it is there, and counts no more
	now = now.Add(forgotten)
	report(1, map[string]int{"P": 0})
	if err := r.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	report(0, map[string]int{"P": 0})
}
