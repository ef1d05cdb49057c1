package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless/keylesstest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestTrustDoc types the commands of docs/trust.md.
func TestTrustDoc(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	g := harness.Start(t, harness.Options{})
	folder, module, ci := t.TempDir(), plugintest.Build(t, plugintest.CronTab), keylesstest.New(t)
	stated := ci.Statement(keylesstest.Provenance, signature.Digest(module), keylesstest.BuiltBy("https://ci.example.com/runner"))
	for name, text := range map[string]string{
		"crontab.wasm": string(module), "crontab.sigstore.json": ci.JSON(ci.Blob(module)), "provenance.sigstore.json": ci.JSON(ci.Envelope(stated)),
		"fulcio.pem": ci.Certificates(), "rekor.pub": ci.Logs(),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	typeAt(t, g, folder, "trust.md", "none.wasm", []string{
		"release.key and release.pub written", "crontab.wasm signed: sha256:", "crontab.wasm is signed by the key ",
		"moduletrust.wasmgate.dev/production created", "wasmmodule/crontab ready", "condition met", "SIGNER", " release",
		"upload refused", "Unsigned: ModuleTrust",
		"crontab.wasm is signed by https://ci.example.com/", "moduletrust.wasmgate.dev/builds created", "condition met", keylesstest.Subject,
		"builds patched", "condition met", "crontab.wasm signed", "condition met",
		"condition met", "is revoked", "condition met", "no",
	})
}
