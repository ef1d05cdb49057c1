package server

import (
	"context"
	"time"

	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/kinds/componentstatus"
)

// storeCheckAge is how old the answer about the store may be.
const storeCheckAge = time.Second

// newHealth registers the checks under kube-apiserver's names.
func (g *gateway) newHealth() *health.Registry {
	r := health.New(func(e health.Endpoint, check string, err error) {
		g.log.Debug().Err(err).Str("endpoint", string(e)).Str("check", check).Msg("health check failed")
	})
	r.Add("log", func(ctx context.Context) error {
		if g.options.LogCheck == nil {
			return nil
		}
		return g.options.LogCheck(ctx)
	})
	r.Add("etcd", g.storeHealth)
	r.Add("etcd-readiness", g.storeHealth, health.Readyz)
	r.Add("informer-sync", func(context.Context) error { return g.engine.Healthy() }, health.Readyz)
	g.hooks.objects = r.PostStartHook("load-objects")
	g.hooks.namespaces = r.PostStartHook("bootstrap-namespaces")
	g.hooks.modules = r.PostStartHook("load-modules")
	g.hooks.shutdown = r.Shutdown()
	return r
}

// components are what is told of the control plane that the gateway is part of.
func (g *gateway) components() componentstatus.Components {
	return componentstatus.New(g.storeHealth, componentstatus.Scheduler, componentstatus.ControllerManager)
}

// hooks report how far the start, and the stop, have come.
type hooks struct{ objects, namespaces, modules, shutdown func() }
