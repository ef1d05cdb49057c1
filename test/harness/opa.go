package harness

import (
	"path/filepath"
	"testing"
)

var opa = &program{
	name: "opa",
	dir:  func() string { return filepath.Join(root(), "test", "harness", "opa") },
}

// OPA builds Open Policy Agent's command line from source, once per test process, and
// returns its path. A first build with an empty build cache takes minutes.
func OPA(t testing.TB) string {
	t.Helper()
	return opa.build(t)
}
