// Command module is the CronTab conversion as a Wasm module:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o crontab.wasm ./examples/crontab/module
//
// It owns only that form: what the module does is examples/crontab's, and must not
// be known here.
package main

import _ "github.com/wasmgate/wasmgate/examples/crontab"

func main() {}
