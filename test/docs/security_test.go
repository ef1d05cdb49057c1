package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestSecurityDoc types the commands of docs/security.md: a gateway that is hardened as it
// says.
func TestSecurityDoc(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	g, folder := harness.Start(t, harness.Options{}), t.TempDir()
	endsAfter(t, folder)
	if err := os.WriteFile(filepath.Join(folder, "crontab.wasm"), plugintest.Build(t, plugintest.CronTab), 0o600); err != nil {
		t.Fatal(err)
	}
	typeAt(t, g, folder, "security.md", "none.wasm", []string{
		"release.key and release.pub written", "namespace/blue created", `Unsigned: ModuleTrust "signed.static.k8s.io"`, "crontab.wasm signed", "wasmmodule/crontab ready",
		"not found", "bound to nobody else", "yes\n", "no\n", "no\n", "secret/password created", "0\n", "401\n", "ok\n",
	})
}
