package service

import (
	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of services, which have addresses and ports, and a ledger of them.
func Kind(c kinds.Config) kinds.Kind {
	if !c.Has(services) {
		return kinds.Kind{}
	}
	return kinds.Kind{
		Admission: func(e *engine.Engine, _ authz.Decider) ([]admission.Plugin, error) {
			config, err := configured(c.Options)
			return []admission.Plugin{New(config, local.Part(e, "services"))}, err
		},
		Serve: func(e *engine.Engine) (kinds.Served, error) {
			config, err := configured(c.Options)
			objects := local.Part(e, "services")
			return kinds.Served{Controllers: func() []kinds.Controller {
				return []kinds.Controller{{Controller: NewAPI(objects, config, c.Options.SecurePort)}, {Controller: NewLedger(objects)}}
			}}, err
		},
	}
}

// configured says which addresses and ports services have.
func configured(o options.Serve) (Config, error) {
	addresses, err := o.ClusterIPs()
	if err != nil {
		return Config{}, err
	}
	first, last, err := o.NodePorts()
	return Config{Addresses: addresses, Ports: Ports{First: first, Last: last}}, err
}
