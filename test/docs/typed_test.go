package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// typeDocument types the commands of a document, in order, against a gateway of
// its own, beside other tests; wasm is the file that they make. What they print has to hold all of
// want, in that order.
func typeDocument(t *testing.T, name, wasm string, want []string) {
	t.Helper()
	harness.SkipExternal(t)
	t.Parallel()
	typeAt(t, harness.Start(t, harness.Options{Accounts: true}), root, name, wasm, want)
}

// typeAt is typeDocument in a folder, with a gateway that runs; what the commands make are
// the files that wasm names. More is added to the environment; the programs that are
// typed come before its PATH.
func typeAt(t *testing.T, g *harness.Gateway, folder, name, wasm string, want []string, more ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, target := range map[string]string{"kubectl": harness.KubectlPath(t), "wasmgate": g.Binary} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	path := os.Getenv("PATH")
	for _, e := range more {
		if p, ok := strings.CutPrefix(e, "PATH="); ok {
			path = p
		}
	}
	env := slices.Concat(os.Environ(), more, []string{"PATH=" + dir + string(os.PathListSeparator) + path,
		"KUBECONFIG=" + g.Kubeconfig, "KUBECACHEDIR=" + filepath.Join(dir, "cache")})
	t.Cleanup(func() { showLogs(t, folder) })
	var printed strings.Builder
	for _, block := range indented(string(text)) {
		for _, file := range strings.Fields(wasm) {
			block = strings.ReplaceAll(block, file, filepath.Join(dir, file))
		}
		printed.WriteString(harness.Shell(t, folder, env, block))
	}
	rest, ok := printed.String(), false
	for _, w := range want {
		if _, rest, ok = strings.Cut(rest, w); !ok {
			t.Fatalf("the document's commands printed\n%s\nand %q is not where it should be", printed.String(), w)
		}
	}
}

// showLogs shows what programs wrote that a document began in a folder, where it failed.
func showLogs(t *testing.T, folder string) {
	if !t.Failed() {
		return
	}
	logs, _ := filepath.Glob(filepath.Join(folder, "*.log"))
	for _, log := range logs {
		text, err := os.ReadFile(log)
		t.Logf("%s: %v\n%s", filepath.Base(log), err, text)
	}
}

// indented are the blocks of a Markdown text that are indented by four spaces.
func indented(markdown string) []string {
	var blocks []string
	var block []string
	for _, line := range append(strings.Split(markdown, "\n"), "end") {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			block = append(block, code)
		} else if strings.TrimSpace(line) != "" && len(block) > 0 {
			blocks = append(blocks, strings.Join(block, "\n"))
			block = nil
		}
	}
	return blocks
}
