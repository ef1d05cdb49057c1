// Command wasmgate serves the Kubernetes API over etcd, extended by
// WebAssembly modules. See README.md.
//
// It owns only that the command line and the server meet: they must not know
// each other.
package main

import (
	"os"

	"github.com/wasmgate/wasmgate/gateway/cli"
	"github.com/wasmgate/wasmgate/gateway/server"
)

func main() {
	os.Exit(cli.Main(server.Run))
}
