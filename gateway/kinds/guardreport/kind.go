package guardreport

import (
	"context"
	"fmt"
	"time"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// lookEvery is how often a gateway compares its guards with those of others. What it
// reads is in memory.
const lookEvery = time.Second

// Kind is that of GuardReports.
func Kind(c kinds.Config) kinds.Kind {
	return kinds.Kind{Serve: func(e *engine.Engine) (kinds.Served, error) {
		return kinds.Served{Starts: []kinds.Start{{Name: "report-guards", Run: func(ctx context.Context, gateway string, work func(func())) error {
			r := New(local.Part(e, "guards"), c.Guards, gateway, c.Metrics.Guards.Drift)
			log := c.Log.With().Str("component", "guards").Logger()
			trouble := ""
			report := func() {
				err := r.Report(ctx)
				if err != nil && ctx.Err() == nil && err.Error() != trouble {
					log.Warn().Err(err).Msg("which guards this gateway has is not reported")
				}
				trouble = fmt.Sprint(err)
			}
			report()
			work(func() {
				for controller.Pause(ctx, lookEvery) {
					report()
				}
				ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookEvery)
				defer cancel()
				if err := r.Leave(ending); err != nil {
					log.Warn().Err(err).Msg("the report of this gateway stays for a while")
				}
			})
			return nil
		}}}}, nil
	}}
}
