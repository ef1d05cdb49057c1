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
	private, public, err := signature.Generate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := signature.ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	made, err := key.Sign(module)
	if err != nil {
		t.Fatal(err)
	}
	stated := ci.Statement(keylesstest.Provenance, signature.Digest(module), keylesstest.BuiltBy("https://ci.example.com/runner"))
	scanned := ci.Statement("https://cosign.sigstore.dev/attestation/vuln/v1", signature.Digest(module), keylesstest.Tree{"scanner": keylesstest.Tree{"result": []any{keylesstest.Tree{"severity": "LOW"}}}})
	for name, text := range map[string]string{
		"crontab.wasm": string(module), "crontab.sigstore.json": ci.JSON(ci.Blob(module)), "provenance.sigstore.json": ci.JSON(ci.Envelope(stated)), "scan.sigstore.json": ci.JSON(ci.Envelope(scanned)),
		"fulcio.pem": ci.Certificates(), "rekor.pub": ci.Logs(),
		"crontab.key.sigstore.json": ci.JSON(keylesstest.ByKey(module, made)), "cosign.pub": string(public),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	typeAt(t, g, folder, "trust.md", "none.wasm", []string{
		"release.key and release.pub written", "crontab.wasm signed: sha256:", "crontab.wasm is signed by the key ", "locked.key and locked.pub written", "locked.wasm is signed by the key ", "bundled.wasm is signed by the key ",
		"moduletrust.wasmgate.dev/production created", "wasmmodule/crontab ready", "condition met", "SIGNER", " release",
		"upload refused", "Unsigned: ModuleTrust",
		"crontab.wasm is signed by https://ci.example.com/", "moduletrust.wasmgate.dev/builds created", "condition met", keylesstest.Subject,
		"builds patched", "condition met", "crontab.wasm signed", "condition met",
		"builds patched", "condition met", "crontab.wasm signed", "condition met",
		"condition met", "is revoked", "condition met", "no",
	})
}
