package offline

import (
	"testing"

	"github.com/wasmgate/wasmgate/crd"
)

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
