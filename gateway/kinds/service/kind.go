package service

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of services, which have addresses and ports, and a ledger of them, and
// of what leads to services from outside.
func Kind(c kinds.Config) kinds.Kind {
	if !c.Has(services) {
		return kinds.Kind{}
	}
	return kinds.Kind{
		Admission: func(e *engine.Engine, _ authz.Decider) ([]admission.Plugin, error) {
			config, err := configured(c.Options)
			objects := local.Part(e, "services")
			return []admission.Plugin{New(config, objects), plugin.DefaultIngressClass{Classes: objects}, plugin.DenyServiceExternalIPs{}}, err
		},
		Serve: func(e *engine.Engine) (kinds.Served, error) {
			config, err := configured(c.Options)
			objects := local.Part(e, "services")
			all := func() []kinds.Controller {
				out := []kinds.Controller{{Controller: NewAPI(objects, config, c.Options.SecurePort)}, {Controller: NewLedger(objects)}, {Controller: NewRelease(objects)}}
				if c.Has(serviceCIDRs) {
					out = append(out, kinds.Controller{Controller: NewRange(objects, config)})
				}
				if c.Has(endpoints) && c.Has(parts) {
					out = append(out, kinds.Controller{Controller: NewEndpoints(objects)})
				}
				return out
			}
			return kinds.Served{Starts: []kinds.Start{accounted(c, objects), identified(c, local.Part(e, "kube-apiserver"))}, Controllers: all}, err
		},
	}
}

// accounted is the step of the start after which each address that a service has is known
// to be taken, also of services that were stored by who kept account of that otherwise.
func accounted(c kinds.Config, objects Objects) kinds.Start {
	return kinds.Start{Name: "start-service-ip-repair-controllers", Run: func(ctx context.Context, _ string, _ func(func())) error {
		for range accountTries {
			err := NewLedger(objects).Reconcile(ctx, nil, controller.Key{})
			if err == nil {
				break
			}
			c.Log.Warn().Err(err).Str("component", "services").Msg("not all addresses that services have are known to be taken")
			controller.Pause(ctx, time.Second)
		}
		return nil
	}}
}

// accountTries is how often that is tried: the [Ledger] goes on, and what is wrong with one
// service does not keep the gateway from serving.
const accountTries = 3

// identified is the step of the start that makes the lease of this gateway, which is
// kept as long as it runs.
func identified(c kinds.Config, objects Leaving) kinds.Start {
	var made atomic.Pointer[Lease]
	return kinds.Start{Name: "start-kube-apiserver-identity-lease-controller", Leave: func(ctx context.Context) error {
		if lease := made.Load(); lease != nil {
			return lease.Leave(ctx)
		}
		return nil
	}, Run: func(ctx context.Context, gateway string, work func(func())) error {
		lease := NewLease(objects, c.Options, gateway, c.Trust)
		made.Store(lease)
		renew := func() {
			if err := lease.Renew(ctx); err != nil && ctx.Err() == nil {
				c.Log.Warn().Err(err).Str("component", "identity").Msg("the lease of this gateway is not renewed")
			}
		}
		renew()
		work(func() {
			for controller.Pause(ctx, renewEvery) {
				renew()
			}
		})
		return nil
	}}
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
