package offline

import (
	"os"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
)

// TestMain keeps what was compiled until all tests have ended: compiling is most of what
// they do.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "wasmgate-offline-")
	if err != nil {
		panic(err)
	}
	compiled = dir
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// Compiled is the folder of compiled code.
func Compiled() string { return compiled }

// Producers is producers, of any bytes.
func Producers(module []byte) []string {
	if len(module) < 8 {
		return nil
	}
	return producers(module)
}

// Definition is the one definition of a file.
func Definition(t testing.TB, text []byte) *crd.Definition {
	d, err := readDefinition(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
