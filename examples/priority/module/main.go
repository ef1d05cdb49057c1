// Command module is the order of releases as a Wasm module:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o releases.wasm ./examples/priority/module
package main

import _ "github.com/wasmgate/wasmgate/examples/priority"

func main() {}
