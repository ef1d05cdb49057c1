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
	r.Add("etcd", health.Cached(within(g.options.EtcdHealthcheckTimeout, g.store.Healthy), storeCheckAge, nil))
	r.Add("etcd-readiness", health.Cached(within(g.options.EtcdReadycheckTimeout, g.store.Healthy), storeCheckAge, nil), health.Readyz)
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

// within is a check that fails when it takes longer than a time.
func within(most time.Duration, check health.Check) health.Check {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		return check(ctx)
	}
}

// hooks report how far the start, and the stop, have come.
type hooks struct {
	objects, shutdown func()
	starts            []func() // of the kinds' steps
}
