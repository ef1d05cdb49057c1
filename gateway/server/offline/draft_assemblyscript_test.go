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

// A module in AssemblyScript that was drafted builds without a warning, and makes of every
// sample the same as the rules that were drafted.
func TestAProjectInAssemblyScript(t *testing.T) {
	dir, sdk := t.TempDir(), t.TempDir()
	plugintest.Sources(t, sdk, "sdk/assemblyscript")
	plugintest.NodeModules(t, dir, filepath.Join(sdk, "sdk", "assemblyscript"))
	made := drafted(t, dir, workbench.Draft{Language: "assemblyscript", From: []byte(everything), SDK: sdk, Name: "1.fn"})
	source := string(filesOf(made, "conversion.ts")[0])
	for _, step := range []string{"move(", "split(", "join(", "replace(", "toDuration(", "toCount(", "toList(", "fromList(", "toText(", "toValue(", "each(", "fill(", "empty(", "keep(", "restore("} {
		if !strings.Contains(source, step) {
			t.Errorf("no %s in\n%s", step, source)
		}
	}
	build := exec.CommandContext(t.Context(), "npm", "run", "build")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil || strings.Contains(string(out), "WARNING") {
		t.Fatalf("%v\n%s\n%s", err, out, source)
	}
	content, err := os.ReadFile(filepath.Join(dir, "build", "module.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	tryAll(t, workbench.Module{Name: "m.wasm", Content: content}, filesOf(made, "crd.yaml")[0], made)
}

// What is odd in names is written so that AssemblyScript reads it, and a project without the
// folder of an SDK says how it gets one, and names none that a registry may have.
func TestAProjectInAssemblyScriptQuotes(t *testing.T) {
	odd := strings.NewReplacer("storageClassName:", "\"g\\\"o\\\\n\\te\\u2028<\\u2602\":", "name: v1alpha1", "name: v1-alpha").Replace(everything)
	made, err := offline.Tools{}.Draft(t.Context(), workbench.Draft{Language: "assemblyscript", From: []byte(odd)})
	if err != nil {
		t.Fatal(err)
	}
	source, manifest, readme := string(filesOf(made, "conversion.ts")[0]), string(filesOf(made, "package.json")[0]), string(filesOf(made, "README.md")[0])
	for _, want := range []string{`"g\"o\\n\te\u2028<☂"`, "const v1_alphaToV1: Step[]"} {
		if !strings.Contains(source, want) {
			t.Errorf("no %s in\n%s", want, source)
		}
	}
	if !strings.Contains(readme, "npm install CHECKOUT/sdk/assemblyscript") {
		t.Error(readme)
	}
	if strings.Contains(manifest, `"wasmgate-sdk"`) {
		t.Error(manifest)
	}
}
