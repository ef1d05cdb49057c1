package flowcontrol

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// again is how long who failed to keep the objects at the start waits.
const again = time.Second

// Kind is that of FlowSchemas and PriorityLevelConfigurations. Where they are not served
// those that there have to be at least are in force.
func Kind(c kinds.Config) kinds.Kind {
	log := c.Log.With().Str("component", "flowcontrol").Logger()
	serve := func(e *engine.Engine) (s kinds.Served, err error) {
		if c.Options.PriorityAndFairness {
			now := NewInForce(e.Catalog(), c.Options.MaxRequestsInFlight+c.Options.MaxMutatingRequestsInFlight, log)
			s.Flow, s.Debug = now, []api.Documents{dumps{now}}
			if err := metrics.ShowFlowControl(c.Metrics, func() metrics.FlowControl { return now.Control().Report() }); err != nil {
				return s, err
			}
			s.Starts = append(s.Starts, kinds.Start{Name: "priority-and-fairness-config-consumer", Run: func(ctx context.Context, _ string, work func(func())) error {
				work(func() { now.control.Run(ctx) })
				return nil
			}})
		}
		if !c.Has(gvr.FlowSchemas) || !c.Has(gvr.PriorityLevels) {
			return s, nil
		}
		objects := local.Part(e, "flowcontrol")
		s.Starts = append(s.Starts, kinds.Start{Name: "priority-and-fairness-config-producer", Run: func(ctx context.Context, _ string, _ func(func())) error {
			controller.Until(ctx, again, func(ctx context.Context) error { return Keep(ctx, objects) }, func(err error) {
				if !apierrors.IsConflict(err) {
					log.Error().Err(err).Msg("the objects of the beginning are not all there yet")
				}
			})
			return nil
		}})
		s.Controllers = func() []kinds.Controller { return []kinds.Controller{{Controller: NewKeeper(objects)}} }
		return s, nil
	}
	return kinds.Kind{Extend: inForce, Serve: serve}
}

// inForce lets writes wait for what they say to be in force.
func inForce(d *crd.Definition) {
	gr := d.GroupResource()
	d.InForce = d.InForce || gr == gvr.FlowSchemas || gr == gvr.PriorityLevels
}
