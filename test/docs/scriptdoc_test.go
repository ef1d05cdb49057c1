package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestModulesDocInAssemblyScript builds the module in AssemblyScript that
// docs/writing-modules.md shows, and types its commands in an empty folder: a project is
// begun, built, and holds its golden files. What npm would install is there already.
func TestModulesDocInAssemblyScript(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	dir, checkout := t.TempDir(), t.TempDir()
	sdk := filepath.Join(checkout, "sdk", "assemblyscript")
	for _, project := range []string{"shown", "gizmos"} {
		plugintest.NodeModules(t, filepath.Join(dir, project), sdk)
	}
	plugintest.Sources(t, checkout, "sdk", "examples/crontab")
	text, err := os.ReadFile(filepath.Join(root, "docs", "writing-modules.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## A conversion in AssemblyScript\n")
	section, costs, _ := strings.Cut(section, "\n## ")
	_, source, _ := strings.Cut(section, "```ts\n")
	source, after, ok := strings.Cut(source, "```")
	commands := indented(after)
	if !ok || len(commands) != 1 {
		t.Fatalf("docs/writing-modules.md shows no AssemblyScript, or %d blocks of commands", len(commands))
	}
	bin := t.TempDir()
	link(t, harness.Binary(t), filepath.Join(bin, "wasmgate"))
	env := append(os.Environ(), "WASMGATE="+checkout)
	harness.Shell(t, dir, env, `PATH="$PATH:`+bin+`"; wasmgate module init shown --language typescript --sdk "$WASMGATE"`)
	if err := os.WriteFile(filepath.Join(dir, "shown", "conversion.ts"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	printed := harness.Shell(t, dir, env, `PATH="$PATH:`+bin+`"; wasmgate module build shown`)
	if !strings.Contains(printed, "converts v1->v1beta1, v1beta1->v1") {
		t.Errorf("it was built with\n%s", printed)
	}
	link(t, filepath.Join(dir, "shown", "shown.wasm"), filepath.Join(dir, "crontab.wasm"))
	if printed := harness.Shell(t, dir, env, `PATH="$PATH:`+bin+"\"\n"+indented(costs)[0]); !strings.Contains(printed, "v1:v1beta1") {
		t.Errorf("it was measured with\n%s", printed)
	}
	typed := strings.Replace(commands[0], "npm install", "grep -q sdk/assemblyscript package.json", 1)
	rest := harness.Shell(t, dir, env, `PATH="$PATH:`+bin+"\"\n"+typed)
	for _, want := range []string{"5 operations, 0 to check", "const v1beta1ToV1: Step[]", "converts Widget:v1", "samples/widget-v1-1.yaml"} {
		var ok bool
		if _, rest, ok = strings.Cut(rest, want); !ok {
			t.Errorf("%q is not where it should be in what was printed:\n%s", want, rest)
		}
	}
}
