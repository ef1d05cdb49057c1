package offline_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

// A module in Rust that was drafted builds without a warning, and makes of every sample
// the same as the rules that were drafted. Its library has a name that is no word of Rust.
func TestAProjectInRust(t *testing.T) {
	env, dir, sdk := plugintest.Cargo(t), t.TempDir(), t.TempDir()
	plugintest.Sources(t, sdk, "sdk/rust")
	made := drafted(t, dir, workbench.Draft{Language: "rust", From: []byte(everything), SDK: sdk, Name: "1.fn"})
	source := string(filesOf(made, "src/lib.rs")[0])
	for _, step := range []string{"shift(", "split(", "join(", "replace(", "to_duration(", "to_count(", "to_list(", "from_list(", "to_text(", "to_value(", "each(", "fill(", "empty(", "keep(", "restore("} {
		if !strings.Contains(source, step) {
			t.Errorf("no %s in\n%s", step, source)
		}
	}
	build := exec.CommandContext(t.Context(), "sh", "-c", "exec cargo build --release --target wasm32-unknown-unknown --target-dir target")
	build.Dir, build.Env = dir, env
	if out, err := build.CombinedOutput(); err != nil || strings.Contains(string(out), "warning") {
		t.Fatalf("%v\n%s\n%s", err, out, source)
	}
	content, err := os.ReadFile(filepath.Join(dir, "target", "wasm32-unknown-unknown", "release", "conversion.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	tryAll(t, workbench.Module{Name: "m.wasm", Content: content}, filesOf(made, "crd.yaml")[0], made)
}

// What is odd in names is written so that Rust reads it, and a project without the folder
// of an SDK says how it gets one.
func TestAProjectInRustQuotes(t *testing.T) {
	odd := strings.NewReplacer("storageClassName:", "\"g\\\"o\\\\n\\te\\u2028\\u2602\":", "name: v1alpha1", "name: v1-alpha").Replace(everything)
	made, err := offline.Tools{}.Draft(t.Context(), workbench.Draft{Language: "rust", From: []byte(odd)})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"src/lib.rs": `"g\"o\\n\u{9}e\u{2028}☂"`,
		"Cargo.toml": `wasmgate-sdk = "0.1"`,
		"README.md":  "cargo add wasmgate-sdk --path CHECKOUT/sdk/rust",
	} {
		if text := string(filesOf(made, file)[0]); !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if text := string(filesOf(made, "src/lib.rs")[0]); !strings.Contains(text, "fn v1_alpha_to_v1()") {
		t.Error(text)
	}
}
