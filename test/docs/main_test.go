package docs

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// root is the folder of the module.
const root = "../.."
