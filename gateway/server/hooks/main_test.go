package hooks

import (
	"os"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/compiler"
)

// TestMain makes the test's own program the compiler, as main does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == compiler.Argument {
		os.Exit(compiler.Main(os.Args[2:], os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}
