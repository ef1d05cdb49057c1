package quota

import (
	"fmt"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/admission/plugin/limitranger"
	"github.com/wasmgate/wasmgate/admission/plugin/resourcequota"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/quota/recount"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of what bounds a namespace: quotas, which are charged by writes and
// counted again now and then, and the limits of single objects.
func Kind(c kinds.Config) kinds.Kind {
	k := kinds.Kind{Admission: func(e *engine.Engine, _ authz.Decider) (all []admission.Plugin, _ error) {
		limited, err := resourcequota.ReadLimited(c.Guards.Configuration(order.ResourceQuota))
		if err != nil {
			return nil, fmt.Errorf("--admission-control-config-file: %s: %w", order.ResourceQuota, err)
		}
		if q := New(e.Catalog(), limited); q != nil {
			all = append(all, q)
		}
		if c.Has(ranges) {
			all = append(all, limitranger.Ranger{Ranges: NewRanges(e.Catalog())})
		}
		return all, nil
	}}
	if c.Has(kind) {
		k.Serve = kinds.Runs(func(e *engine.Engine) []kinds.Controller {
			return []kinds.Controller{{Switch: options.ResourceQuotas, Controller: recount.New(local.Part(e, "quotas"))}}
		})
	}
	return k
}
