package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestPoliciesDoc types the commands of docs/policies.md, in order.
func TestPoliciesDoc_WP02(t *testing.T) {
	harness.SkipExternal(t)
	programs := t.TempDir()
	link(t, harness.OPA(t), filepath.Join(programs, "opa"))
	t.Parallel()
	typeAt(t, harness.Start(t, harness.Options{Accounts: true}), root, "policies.md", "labels.wasm bundle.tar.gz", []string{
		"Kubewarden 1", `"warnings": [`, "wasmmodule/labels ready", `denied the request: ConfigMap prices needs a label "team"`, "sales   standard",
		"OPA 1", "nobody is responsible for prices", "wasmmodule/deny ready", `webhook "deny.example.com" denied the request: ConfigMap prices needs a label "team"`,
	}, "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
}
