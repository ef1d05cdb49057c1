package componentstatus

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Kind is that of ComponentStatuses, which tell of the control plane that the gateway is
// part of.
func Kind(c kinds.Config) kinds.Kind {
	parts := New(c.StoreHealth, Scheduler, ControllerManager)
	return kinds.Kind{Reports: map[schema.GroupResource]resource.Report{Resource: parts.Report}}
}
