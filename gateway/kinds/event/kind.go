package event

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of events, which tell of what becomes of objects of some kinds.
func Kind(c kinds.Config, about ...schema.GroupResource) kinds.Kind {
	return kinds.Kind{Admission: func(*engine.Engine, authz.Decider) ([]admission.Plugin, error) { return plugins(c) }, Serve: kinds.Runs(func(e *engine.Engine) []kinds.Controller {
		return []kinds.Controller{{Controller: New(local.Part(e, "events"), about...)}}
	})}
}

// plugins are those about all events, whoever sends them.
func plugins(c kinds.Config) ([]admission.Plugin, error) {
	if !c.Options.Admits(order.EventRateLimit) {
		return nil, nil
	}
	limit, err := plugin.NewEventRateLimit(c.Guards.Configuration(order.EventRateLimit), time.Now)
	if err != nil {
		return nil, fmt.Errorf("--admission-control-config-file: %s: %w", order.EventRateLimit, err)
	}
	return []admission.Plugin{limit}, nil
}
