package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// root is the folder of the module.
const root = "../.."

func TestMain(m *testing.M) { harness.Main(m) }
