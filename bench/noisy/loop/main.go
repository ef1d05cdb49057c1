// Command loop is a converter that never ends, as a Wasm module.
//
// It owns what a careless author may upload, and must not know who measures it.
package main

import "github.com/wasmgate/wasmgate/sdk"

func init() {
	sdk.Convert("v1", "v2", forever)
	sdk.Convert("v2", "v1", forever)
}

func forever(o *sdk.Object) error {
	for n := 0; ; n++ {
		if n < 0 { // never, which no compiler knows
			return o.At("spec").SetString("")
		}
		n--
	}
}

func main() {}
