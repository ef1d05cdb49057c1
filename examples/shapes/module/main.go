// Command module is examples/shapes as a Wasm module. It owns only that form, and
// must not know what is converted.
package main

import _ "github.com/wasmgate/wasmgate/examples/shapes"

func main() {}
