package registry_test

import (
	"testing"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/convtest"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

// The table of faults is the one that webhooks are held to, in the same words.
func TestFaults_CRD15_CRD16_CRD17(t *testing.T) {
	r := newRegistry(t)
	set(t, r, "faulty", plugintest.Build(t, plugintest.Faulty))
	convtest.Faults(t, r.Converter("faulty"), conversion.Told{
		Converter: `conversion module "faulty"`,
		Hint:      "; what it wrote is told by: wasmgate module logs faulty",
	})
}
