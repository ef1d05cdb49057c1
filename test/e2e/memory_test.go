package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestMemoryBudget: the budget is what Go collects garbage by, and what is taken of it is
// told, for as long as it is taken.
func TestMemoryBudget(t *testing.T) {
	harness.SkipExternal(t)
	api := harness.Start(t, harness.Options{Args: []string{"--memory-budget=1073741824"}}).API(t)
	api.Eventually("/metrics", metrics("wasmgate_memory_budget_bytes 1.073741824e+09", "go_gc_gomemlimit_bytes 9.39524096e+08",
		`wasmgate_memory_used_bytes{purpose="watches"} 0`, `wasmgate_memory_used_bytes{purpose="modules"} 0`))
	w := api.Watch(configMaps("default") + "?watch=1")
	api.Eventually("/metrics", metrics(`wasmgate_memory_used_bytes{purpose="watches"} 49152`))
	w.Close()
	api.Eventually("/metrics", metrics(`wasmgate_memory_used_bytes{purpose="watches"} 0`))
}
