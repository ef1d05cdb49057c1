package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A dry run says of a module that is there, and of one that is not, whether the gateway
// would take the bytes, and why not.
func TestDryRunsOfUploads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.wasm")
	if err := os.WriteFile(file, []byte("\x00asm\x01\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	there := func(g *fakeGateway, source map[string]any) {
		g.set(modulesPath+"/m", map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": "m"}, "spec": map[string]any{"source": source}})
	}
	for name, tc := range map[string]struct {
		set  func(g *fakeGateway)
		want string
	}{
		"a new one":          {func(*fakeGateway) {}, "wasmmodule/m can be uploaded (dry run): sha256:"},
		"one that is there":  {func(g *fakeGateway) { there(g, map[string]any{"upload": map[string]any{}}) }, "wasmmodule/m can be uploaded (dry run): sha256:"},
		"one that is pulled": {func(g *fakeGateway) { there(g, map[string]any{"image": "i"}) }, "wasmmodule/m does not take uploads"},
		"bytes that are refused": {func(g *fakeGateway) {
			there(g, map[string]any{"upload": map[string]any{}})
			g.refuses = true
		}, "no: Invalid"},
		"somebody unknown": {func(g *fakeGateway) { g.strange = true }, "no: Unauthorized"},
	} {
		g := newFakeGateway(t)
		g.mu.Lock()
		tc.set(g)
		g.mu.Unlock()
		out, err := command(t, "module", "push", "m", file, "--dry-run", "--kubeconfig", g.kubeconfig)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, tc.want) || len(g.contents) > 0 {
			t.Errorf("%s: %s, want %s", name, out, tc.want)
		}
	}
}
