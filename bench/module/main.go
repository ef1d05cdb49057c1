// Command module is the benchmark's conversion as a Wasm module: v1 has
// spec.hostPort, v2 has spec.host and spec.port.
//
// It owns that conversion, which the benchmark's webhook does too, and must not
// know what measures it.
package main

import (
	"errors"
	"strings"

	"github.com/wasmgate/wasmgate/sdk"
)

func init() {
	sdk.Convert("v1", "v2", split)
	sdk.Convert("v2", "v1", join)
}

func split(o *sdk.Object) error {
	field := o.At("spec", "hostPort")
	hostPort, ok := field.String()
	if !ok {
		return nil
	}
	host, port, ok := strings.Cut(hostPort, ":")
	if !ok {
		return errors.New("spec.hostPort has no port")
	}
	field.Delete()
	if err := o.At("spec", "host").SetString(host); err != nil {
		return err
	}
	return o.At("spec", "port").SetString(port)
}

func join(o *sdk.Object) error {
	host, hasHost := o.At("spec", "host").String()
	port, hasPort := o.At("spec", "port").String()
	if !hasHost || !hasPort {
		return nil
	}
	o.At("spec", "host").Delete()
	o.At("spec", "port").Delete()
	return o.At("spec", "hostPort").SetString(host + ":" + port)
}

func main() {}
