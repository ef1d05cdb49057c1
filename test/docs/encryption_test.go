package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestEncryptionDoc types docs/encryption.md, beside a gateway with the file that it
// shows.
func TestEncryptionDoc(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "encryption.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, config, _ := strings.Cut(string(text), "```yaml\n")
	config, _, _ = strings.Cut(config, "```")
	folder := t.TempDir()
	file := filepath.Join(folder, "encryption.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{Args: []string{"--encryption-provider-config", file, "--encryption-provider-config-automatic-reload"}})
	typeAt(t, g, folder, "encryption.md", "none.wasm", []string{
		"secret/db created", `resource="secrets"`, "apiserver_encryption_config_controller_last_config_info", "storageversionmigration.storagemigration.k8s.io/second-key condition met",
		`"rewritten":`, "opensesame",
	})
	kept, err := g.Etcd(t).Get(t.Context(), "/registry/secrets/default/db")
	if err != nil {
		t.Fatal(err)
	}
	if len(kept.Kvs) != 1 || !strings.HasPrefix(string(kept.Kvs[0].Value), "k8s:enc:aesgcm:v1:second:") {
		t.Errorf("it is kept as %v", kept.Kvs)
	}
}
