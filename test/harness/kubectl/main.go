// Command kubectl is the upstream kubectl, built from source so that the tests
// need none on the machine. It is a module of its own, because kubectl's
// dependencies are none of the gateway's.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	// The command prints its own errors in kubectl's form; RunNoErrOutput keeps
	// cobra from printing them a second time.
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		cmdutil.CheckErr(err)
		os.Exit(1)
	}
}
