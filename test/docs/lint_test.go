package docs

import "testing"

// TestLintDoc_VER08_VER11 types the commands of docs/lint.md.
func TestLintDoc_VER08_VER11(t *testing.T) {
	typeDocument(t, "lint.md", "crontab.wasm", []string{
		"crontabs.example.com", "v1", "4b", "is stored instead of v1beta1",
		"v1beta1", "4a",
		"crontabs.example.com created", `"rule": "4b"`,
	})
}
