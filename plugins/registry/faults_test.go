package registry_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/convtest"
	"github.com/wasmgate/wasmgate/conversion/convtest/faults"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
)

// The table of faults is the one that webhooks are held to, in the same words.
func TestFaults_CRD15_CRD16_CRD17(t *testing.T) {
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New(registry.Config{Compiler: e, LoadTimeout: 10 * time.Minute, Hint: func(name string) string { return "; more of " + name }})
	defer func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	set(t, r, "faulty", plugintest.Build(t, plugintest.Faulty))
	convtest.Faults(t, r.Converter("faulty"), conversion.Told{
		Converter: `conversion module "faulty"`,
		Hint:      "; more of faulty",
	})
}

// What is tried beside the revision that serves is spoken of by the name of its WasmModule,
// and nothing is said about seeing more where nobody can.
func TestFailuresOfTrialsNameTheModule(t *testing.T) {
	r := newRegistry(t)
	set(t, r, "silent@trial", echo(""))
	for name, want := range map[string]string{
		"silent@trial": "BadReply: the reply is empty",
		"absent@trial": `NotReady: there is no such module; create a WasmModule named "absent", for example with: wasmgate module push absent FILE`,
	} {
		_, err := r.Converter(name).Convert(t.Context(), "example.com/v1", [][]byte{faults.Object("none")})
		plain, _, _ := strings.Cut(name, "@")
		want = fmt.Sprintf("conversion module %[1]q for example.com/v1beta1, Kind=Thing failed: wasm module %[1]q: wasmgate_convert: %[2]s", plain, want)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
