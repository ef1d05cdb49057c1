package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestEnvtestDoc types the commands of docs/envtest.md.
func TestEnvtestDoc(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "envtest.md"))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for name, target := range map[string]string{"kubectl": harness.KubectlPath(t), "wasmgate": harness.Binary(t)} {
		if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	first, _, _ := strings.Cut(string(text), "\n## ")
	for _, block := range indented(first) {
		if printed := harness.Shell(t, root, env, block); printed != "etcd\nkube-apiserver\nkubectl\n" {
			t.Errorf("%s", printed)
		}
	}
}
