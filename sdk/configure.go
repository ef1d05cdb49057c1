package sdk

import (
	"bytes"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// ConfigureFunc takes over the configuration of the module: spec.config of its
// WasmModule, as JSON. It runs once in every instance, before anything else is
// asked; without a spec.config it does not run. An error refuses the
// configuration, with its text, and the revision before serves on.
type ConfigureFunc func(config []byte) error

// configures and configSchema are written by init functions only.
var (
	configures   ConfigureFunc
	configSchema string
)

// Configure registers the function that takes the configuration; there is one
// in a module. schema is a JSON schema, as CustomResourceDefinitions have them,
// by which the gateway checks a configuration before it is used; "" allows all.
// Call it from init.
func Configure(schema string, fn ConfigureFunc) { configSchema, configures = schema, fn }

// appendConfigured hands over a configuration. What is appended is empty, or
// says why it is refused.
func appendConfigured(dst, config []byte) []byte {
	reason := "this module takes no configuration: it was built without sdk.Configure"
	if configures != nil {
		err := configures(bytes.Clone(config)) // which may be kept
		if err == nil {
			return dst
		}
		reason = err.Error()
	}
	return append(rawjson.AppendString(append(dst, `{"error":`...), reason), '}')
}
