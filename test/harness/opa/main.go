// Command opa is Open Policy Agent's own command line, which tests build policies with.
//
// It owns nothing: it is a module of its own, so that nobody who builds the gateway
// needs that.
package main

import (
	"os"

	"github.com/open-policy-agent/opa/cmd"
)

func main() {
	if cmd.Command(nil, "OPA").Execute() != nil {
		os.Exit(1)
	}
}
