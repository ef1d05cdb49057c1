package definition

import (
	"github.com/wasmgate/wasmgate/admission"
	definitions "github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/compile"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of CustomResourceDefinitions: what they are compiled to, their
// conditions, and their end. Modules and rules are what may convert.
func Kind(c kinds.Config, modules compile.Modules, rules compile.Rules) kinds.Kind {
	stored := leftovers.Objects{Store: c.Store, Prefix: c.Options.EtcdPrefix + "/"}
	converters := compile.Converters{Modules: modules, Rules: rules, Metrics: c.Metrics, Log: c.Log}
	return kinds.Kind{
		Admission: func(*engine.Engine, authz.Decider) ([]admission.Plugin, error) {
			return []admission.Plugin{conversionLoss{stored.Any, stored.Some, compile.Definition, converters.Converter}}, nil
		},
		Compile: compile.Definition,
		Convert: converters.Converter,
		Serve: kinds.Runs(func(e *engine.Engine) []kinds.Controller {
			objects := local.Part(e, "definitions")
			return []kinds.Controller{
				{Controller: NewStatus(objects, definitions.Conditions)},
				{Controller: NewFinalizer(objects, objects, stored)},
			}
		}),
	}
}
