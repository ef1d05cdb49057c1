// Command module is the policy as a Wasm module:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o policy.wasm ./examples/policy/module
//
// It owns only that form: what the module does is examples/policy's, and must not
// be known here.
package main

import _ "github.com/wasmgate/wasmgate/examples/policy"

func main() {}
