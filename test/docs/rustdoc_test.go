package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestModulesDocInRust builds the module in Rust that docs/writing-modules.md shows, and types
// its commands in an empty folder: a project is begun, built, and holds its golden files.
func TestModulesDocInRust(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	env, dir, checkout := plugintest.Cargo(t), t.TempDir(), t.TempDir()
	plugintest.Sources(t, checkout, "sdk")
	text, err := os.ReadFile(filepath.Join(root, "docs", "writing-modules.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## A conversion in Rust\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, source, _ := strings.Cut(section, "```rust\n")
	source, after, ok := strings.Cut(source, "```")
	commands := indented(after)
	if !ok || len(commands) != 1 {
		t.Fatalf("docs/writing-modules.md shows no Rust, or %d blocks of commands", len(commands))
	}
	bin := t.TempDir()
	link(t, harness.Binary(t), filepath.Join(bin, "wasmgate"))
	env = append(env, "WASMGATE="+checkout)
	harness.Shell(t, dir, env, `PATH="$PATH:`+bin+`"; wasmgate module init shown --language rust --sdk "$WASMGATE"`)
	if err := os.WriteFile(filepath.Join(dir, "shown", "src", "lib.rs"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	printed := harness.Shell(t, dir, env, `PATH="$PATH:`+bin+`"; wasmgate module build shown`)
	if !strings.Contains(printed, "converts v1->v1beta1, v1beta1->v1") {
		t.Errorf("it was built with\n%s", printed)
	}
	rest := harness.Shell(t, dir, env, `PATH="$PATH:`+bin+"\"\n"+commands[0])
	for _, want := range []string{"5 operations, 0 to check", "fn v1beta1_to_v1()", "converts Widget:v1", "samples/widget-v1-1.yaml"} {
		var ok bool
		if _, rest, ok = strings.Cut(rest, want); !ok {
			t.Errorf("%q is not where it should be in what was printed:\n%s", want, rest)
		}
	}
}
