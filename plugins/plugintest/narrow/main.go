// Command narrow is a module for tests of what conversions lose: its structs lack
// what somebody added to the schemas later. It owns that loss and must not know the
// gateway.
package main

import "github.com/wasmgate/wasmgate/sdk"

type widget struct {
	Spec *struct {
		Size int32 `json:"size,omitempty"`
	} `json:"spec,omitempty"`
}

func init() {
	same := func(from, to *widget) error { *to = *from; return nil }
	sdk.ConvertTyped("v1", "v2", same)
	sdk.ConvertTyped("v2", "v1", same)
}

func main() {}
