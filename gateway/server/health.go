package server

import (
	"context"
	"time"

	"github.com/wasmgate/wasmgate/gateway/health"
)

// storeCheckAge is how old the answer about the store may be.
const storeCheckAge = time.Second

// newHealth registers the checks under kube-apiserver's names.
func (g *gateway) newHealth() *health.Registry {
	r := health.New(func(e health.Endpoint, check string, err error) {
		g.log.Debug().Err(err).Str("endpoint", string(e)).Str("check", check).Msg("health check failed")
	}, func(e health.Endpoint, check string, well bool) { g.metrics.SLIs.HealthCheck(string(e), check, well) })
	r.Add("log", func(ctx context.Context) error {
		if g.options.LogCheck == nil {
			return nil
		}
		return g.options.LogCheck(ctx)
	})
	live, ready := g.options.EtcdHealthcheckTimeout, g.options.EtcdReadycheckTimeout
	r.AddWithin(live, "etcd", health.Cached(g.store.Healthy, live, storeCheckAge, nil))
	r.AddWithin(ready, "etcd-readiness", health.Cached(g.store.Healthy, ready, storeCheckAge, nil), health.Readyz)
	r.Add("informer-sync", func(context.Context) error { return g.engine.Healthy() }, health.Readyz)
	g.encryption.AddCheck(r)
	if g.guards != nil { // what was before is in force, and all gateways would not be ready at once
		r.Add("guards", g.guards.Check, health.Healthz)
	}
	alive := time.Now().Add(g.options.LivezGracePeriod)
	g.hooks.objects = r.PostStartHook("load-objects", alive)
	for _, step := range g.served.Starts {
		g.hooks.starts = append(g.hooks.starts, r.PostStartHook(step.Name, alive))
	}
	g.hooks.shutdown = r.Shutdown()
	return r
}

// hooks report how far the start, and the stop, have come.
type hooks struct {
	objects, shutdown func()
	starts            []func() // of the kinds' steps
}
