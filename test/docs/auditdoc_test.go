package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestAuditDoc types docs/audit.md, with its policy and its flags.
func TestAuditDoc(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join(root, "docs", "audit.md"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "policy.yaml"), []byte(fenced(t, string(doc), "yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, arg := range strings.Fields(strings.TrimPrefix(fenced(t, string(doc), "sh"), "wasmgate serve ")) {
		if arg == "policy.yaml" || arg == "audit.log" {
			arg = filepath.Join(folder, arg)
		}
		args = append(args, arg)
	}
	typeAt(t, harness.Start(t, harness.Options{Args: args}), folder, "audit.md", "none.wasm", []string{
		`"data":{"color":"red"`, `"name":"password"`, "\n0\n", "forbidden\n", `"impersonatedUser":{"username":"ann"`, `"authorization.k8s.io/decision":"forbid"`, `"impersonationConstraint":"impersonate:user-info"`,
		"[+]audit ok", `apiserver_audit_error_total{plugin="log"} 0`,
	})
}

// fenced is the first block of a language in a Markdown text.
func fenced(t *testing.T, markdown, language string) string {
	t.Helper()
	_, rest, ok := strings.Cut(markdown, "\n```"+language+"\n")
	block, _, closed := strings.Cut(rest, "\n```")
	if !ok || !closed {
		t.Fatalf("there is no block of %s", language)
	}
	return block
}
