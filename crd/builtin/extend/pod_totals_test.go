package extend

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/wasmgate/wasmgate/crd/object"
)

// What a pod requests is filled in without going through all resources of its sidecars
// for each container that starts, which would allocate hundreds of megabytes here.
func TestTotalsOfPodsWithManyContainers(t *testing.T) {
	many := map[string]any{}
	for i := range 2000 {
		many[fmt.Sprintf("example.com/r%d", i)] = "1"
	}
	starting := []any{map[string]any{"name": "s", "restartPolicy": "Always", "resources": map[string]any{"requests": many, "limits": many}}}
	for i := range 1000 {
		starting = append(starting, map[string]any{"name": fmt.Sprint("i", i), "resources": map[string]any{"requests": map[string]any{"cpu": "2"}, "limits": map[string]any{"hugepages-2Mi": "2Mi"}}})
	}
	pod := map[string]any{"spec": map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": "1Gi"}}, "initContainers": starting}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	requestTotals(pod)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("%d bytes are allocated", got)
	}
	want := map[string]any{"limits": map[string]any{"memory": "1Gi", "hugepages-2Mi": "2Mi"}, "requests": map[string]any{"cpu": "2", "memory": "1Gi", "hugepages-2Mi": "2Mi"}}
	if got := object.Child(pod, "spec", "resources"); !object.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
