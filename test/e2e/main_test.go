package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
