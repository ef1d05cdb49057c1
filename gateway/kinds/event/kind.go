package event

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of events, which tell of what becomes of objects of some kinds.
func Kind(about ...schema.GroupResource) kinds.Kind {
	return kinds.Kind{Serve: kinds.Runs(func(e *engine.Engine) []kinds.Controller {
		return []kinds.Controller{{Controller: New(local.Part(e, "events"), about...)}}
	})}
}
