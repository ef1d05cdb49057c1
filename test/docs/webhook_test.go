package docs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestWebhookDoc types the commands of docs/webhook.md: a gateway stands for the API
// server, which calls over HTTPS.
func TestWebhookDoc(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	folder := t.TempDir()
	rules, err := os.ReadFile(filepath.Join(root, "examples/crontab/rules.yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "rules.yaml"), rules, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "policy.wasm"), plugintest.Build(t, plugintest.Policy), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // where the document does not come to its end
		if pid, err := os.ReadFile(filepath.Join(folder, "webhook.pid")); err == nil {
			if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	})
	typeAt(t, harness.Start(t, harness.Options{}), folder, "webhook.md", "none.wasm", []string{
		"wasmgate serves webhooks at https://127.0.0.1:", "/admit/policy", "/convert/crontabs",
		"condition met", "condition met", "crontab.example.com/first created", "localhost 1234",
		"condition met", `needs a label "team"`, "first labeled", `"tier":"standard"`,
		"localhost:1234",
		"ok\n", `wasmgate_webhook_requests_total{code="200",hook="admit",name="policy"}`, `hook="convert",name="crontabs"`,
	})
}
