package versionpriority

import (
	"net/http"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority/ordering"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority/question"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of VersionPriorities: orders of versions that modules decide on.
func Kind(c kinds.Config, modules Modules) kinds.Kind {
	return kinds.Kind{Serve: func(e *engine.Engine) (kinds.Served, error) {
		orders := ordering.New(e.Catalog(), c.Log)
		return kinds.Served{
			Orders: func() discovery.Order { return orders.Current() },
			Questions: map[api.ContentPath]api.Question{
				{GroupResource: gvr.Modules, Subresource: "prioritize"}: {Verb: "create", Code: http.StatusOK, Answer: question.Preview{
					Versions: orders.Versions, Exists: e.Exists, Judge: e.Judge, Prioritize: modules.Prioritize,
				}.Answer},
			},
			Controllers: func() []kinds.Controller {
				return []kinds.Controller{{Controller: New(local.Part(e, "version-priorities"), modules, orders)}}
			},
		}, nil
	}}
}
