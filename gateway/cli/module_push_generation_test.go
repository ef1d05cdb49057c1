package cli

import (
	"strings"
	"testing"
)

// What a gateway says of a module as it was before tells nothing of what was uploaded.
func TestModulePush_WaitsForItsGeneration(t *testing.T) {
	g := newFakeGateway(t)
	before := servedStatus(digestOf([]byte("new")), "new")
	before["observedGeneration"] = 1
	g.mu.Lock()
	g.set(modulesPath+"/m", map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule",
		"metadata": map[string]any{"name": "m", "generation": 2, "annotations": map[string]any{}},
		"spec":     map[string]any{"source": map[string]any{"upload": map[string]any{}}}, "status": before})
	g.mu.Unlock()
	g.watched = func() { // so what it said before was seen
		g.later(modulesPath+"/m", func(o map[string]any) {
			o["status"] = map[string]any{"observedGeneration": 2, "conditions": []any{cond(compiled, "False", "Broken", "it cannot start"), cond(ready, "False", "Broken", "")}}
		})
	}
	if out, err := g.push(t, "m", "new"); err == nil || !strings.Contains(err.Error(), "Broken: it cannot start") || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
}
