package definition

import (
	"net/http"

	"github.com/wasmgate/wasmgate/admission"
	definitions "github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/compile"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/proofs"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/usage"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of CustomResourceDefinitions: what they are compiled to, their
// conditions, how their versions are used, and their end. Modules and rules are what may
// convert.
func Kind(c kinds.Config, modules compile.Modules, rules compile.Rules) kinds.Kind {
	stored := leftovers.Objects{Store: c.Store, Prefix: c.Options.EtcdPrefix + "/"}
	converters := compile.Converters{Modules: modules, Rules: rules, Metrics: c.Metrics, Log: c.Log}
	return kinds.Kind{
		Admission: func(*engine.Engine, authz.Decider) ([]admission.Plugin, error) {
			return []admission.Plugin{conversionLoss{stored.Any, stored.Some, compile.Definition, converters.Converter}, proofs.NewGuard(proofs.Webhook)}, nil
		},
		Compile: compile.Definition,
		Convert: converters.Converter,
		Serve: func(e *engine.Engine) (kinds.Served, error) {
			asked := usage.Question{Exists: e.Exists, Objects: e.Catalog().Cache(), Clients: c.Metrics.Clients}
			return kinds.Served{
				Questions: map[api.ContentPath]api.Question{
					{GroupResource: gvr.Definitions, Subresource: "usage"}: {Verb: "get", Code: http.StatusOK, Answer: asked.Answer},
				},
				Controllers: func() []kinds.Controller {
					objects := local.Part(e, "definitions")
					return []kinds.Controller{
						{Controller: NewStatus(objects, definitions.Conditions)},
						{Controller: NewFinalizer(objects, objects, stored)},
						{Controller: proofs.New(objects, proofs.Webhook)},
					}
				},
			}, nil
		},
	}
}
