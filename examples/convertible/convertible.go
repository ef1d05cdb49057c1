// Package convertible owns how conversions that were written for controller-runtime's webhook
// are registered, unchanged, as those of a Wasm module.
//
// It must not know the gateway, nor what the versions of the Database, which are below it,
// say.
package convertible

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "github.com/wasmgate/wasmgate/examples/convertible/v1"
	v2 "github.com/wasmgate/wasmgate/examples/convertible/v2"
	"github.com/wasmgate/wasmgate/sdk"
)

func init() {
	hub := sdk.HubOf("Database", "v2", func() conversion.Hub { return &v2.Database{} })
	hub.Spoke("v1", func() sdk.Convertible[conversion.Hub] { return &v1.Database{} })
}
