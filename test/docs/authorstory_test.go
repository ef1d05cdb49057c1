package docs

import (
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestStoryDoc types the commands of docs/story.md in an empty folder: a project is begun,
// what it loses is found and mended, and an object is read and changed at both versions.
func TestStoryDoc(t *testing.T) {
	harness.SkipExternal(t)
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	typeAt(t, harness.Start(t, harness.Options{Accounts: true}), t.TempDir(), "story.md", "none.wasm", []string{
		"spec.hostPort", "widgets.example.com: 5 operations, 0 to check", "- split: {field: spec.hostPort",
		"5 operations", "ok", "InvalidAtDestination", "ConversionFails", "lossless: False", "lossless: True",
		"conversionrules.wasmgate.dev/widgets created", "condition met", "widget created", "\n", "patched", "localhost:8080",
		"v1beta1ToV1 = steps{", "converts Widget:v1", "golden/widget-v1-1.v1beta1.yaml", "lossless: True",
		"wasmmodule/widgets ready", "configured", "wasm://widgets", "localhost:8080",
		"200 conversions, 200 the same", "PER OBJECT", "v1beta1:v1", "compiled and started",
		"policy.wasm: ", "wasmgate_admit", `"allowed": false`, "wasmgate_admit: ", `refused: ConfigMap a needs a label "team"`,
	}, "WASMGATE="+checkout)
}
