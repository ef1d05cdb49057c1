package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestGuardsDoc types the commands of docs/guards.md.
func TestGuardsDoc(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	g, folder := harness.Start(t, harness.Options{}), t.TempDir()
	endsAfter(t, folder)
	if err := os.WriteFile(filepath.Join(folder, "policy.wasm"), plugintest.Build(t, plugintest.Policy), 0o600); err != nil {
		t.Fatal(err)
	}
	typeAt(t, g, folder, "guards.md", "none.wasm", []string{
		"at most 5 replicas", "needs a label", "No resources found", "apiserver-", "configmap/limits created", "at most 5 replicas", "internal server error", "at most 5 replicas", "deployment.apps/web created", "ok",
		"condition met", "limits replicas.static.k8s.io replicas.static.k8s.io labels.static.k8s.io labels.static.k8s.io", "delete is not supported",
	})
}

// endsAfter ends the gateway that a document began in a folder.
func endsAfter(t *testing.T, folder string) {
	t.Cleanup(func() {
		if pid, err := os.ReadFile(filepath.Join(folder, "gateway.pid")); err == nil {
			_ = exec.Command("kill", strings.TrimSpace(string(pid))).Run() // it has ended, unless something failed
		}
	})
}
