// Command keyservice serves package keyservice at a socket, for servers that are
// compared: go run ./test/cmd/keyservice SOCKET [KEY...]
//
// It owns its command line. It must not know what the service does.
package main

import (
	"fmt"
	"os"
	"os/signal"

	"github.com/wasmgate/wasmgate/test/keyservice"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: keyservice SOCKET [KEY...]")
		os.Exit(2)
	}
	stop, err := keyservice.New(append([]string{"key"}, os.Args[2:]...)...).Serve(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	<-interrupted
	stop()
}
