// Command module is the order of releases as a Wasm module:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o releases.wasm ./examples/priority/module
//
// It owns only that form: what the module does is examples/priority's, and must not
// be known here.
package main

import _ "github.com/wasmgate/wasmgate/examples/priority"

func main() {}
