package definition

import (
	definitions "github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/compile"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of CustomResourceDefinitions: what they are compiled to, their
// conditions, and their end. Modules are what may convert.
func Kind(c kinds.Config, modules compile.Modules) kinds.Kind {
	return kinds.Kind{
		Compile: compile.Definition,
		Convert: compile.Converters{Modules: modules, Metrics: c.Metrics, Log: c.Log}.Converter,
		Serve: kinds.Runs(func(e *engine.Engine) []kinds.Controller {
			objects := local.Part(e, "definitions")
			return []kinds.Controller{
				{Controller: NewStatus(objects, definitions.Conditions)},
				{Controller: NewFinalizer(objects, objects, leftovers.Objects{Store: c.Store, Prefix: c.Options.EtcdPrefix + "/"})},
			}
		}),
	}
}
