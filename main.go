// Command wasmgate serves the Kubernetes API over etcd, extended by
// WebAssembly modules. See README.md.
//
// It owns only that the command line and the server meet: they must not know
// each other. Started by a gateway it is the compiler of one module, and called etcd it
// is that, for test environments that start both programs (see `wasmgate envtest`).
package main

import (
	"os"
	"path/filepath"

	"github.com/wasmgate/wasmgate/gateway/cli"
	"github.com/wasmgate/wasmgate/gateway/server"
	"github.com/wasmgate/wasmgate/gateway/server/hooks"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins/compiler"
	"github.com/wasmgate/wasmgate/storage/etcd"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == compiler.Argument {
		os.Exit(compiler.Main(os.Args[2:], os.Stdin, os.Stdout))
	}
	if filepath.Base(os.Args[0]) == "etcd" {
		etcd.Program(os.Args)
		return
	}
	os.Exit(cli.Main(cli.Parts{Serve: server.Run, Webhook: hooks.Run, Tools: offline.Tools{}}))
}
