// Command module is the Database's conversion as a Wasm module:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o database.wasm ./examples/convertible/module
//
// It owns only that form: what the module does is examples/convertible's, and must not
// be known here.
package main

import _ "github.com/wasmgate/wasmgate/examples/convertible"

func main() {}
