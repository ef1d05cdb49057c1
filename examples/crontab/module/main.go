// Command module is the CronTab conversion as a Wasm module:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o crontab.wasm ./examples/crontab/module
package main

import _ "github.com/wasmgate/wasmgate/examples/crontab"

func main() {}
