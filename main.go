// Command wasmgate serves the Kubernetes API over etcd, extended by
// WebAssembly modules. See README.md.
//
// It owns only that the command line and the server meet: they must not know
// each other. Started by a gateway it is the compiler of one module.
package main

import (
	"os"

	"github.com/wasmgate/wasmgate/gateway/cli"
	"github.com/wasmgate/wasmgate/gateway/server"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins/compiler"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == compiler.Argument {
		os.Exit(compiler.Main(os.Args[2:], os.Stdin, os.Stdout))
	}
	os.Exit(cli.Main(server.Run, offline.Tools{}))
}
