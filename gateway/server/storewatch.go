package server

import (
	"context"
	"time"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

const (
	// storeWatchEvery is how often the store is looked at, storeAnswers how long it
	// may take to answer.
	storeWatchEvery = 2 * time.Second
	storeAnswers    = 3 * time.Second
	// storeRemind is how often the log repeats that the store does not answer.
	storeRemind = time.Minute
)

// watchStore logs when the store stops answering, and when it answers again, until
// ctx ends: whoever looks for the cause of what fails finds it there.
func (g *gateway) watchStore(ctx context.Context) {
	log := g.log.With().Str("component", "etcd").Logger()
	var since, said time.Time // since when it does not answer, and when that was said
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, storeAnswers)
		err := g.storeHealth(asked)
		cancel()
		now := time.Now()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !since.IsZero():
			log.Info().Dur("after", now.Sub(since)).Msg("etcd answers again")
			since = time.Time{}
		case err != nil && (since.IsZero() || now.Sub(said) >= storeRemind):
			if since.IsZero() {
				since = now
			}
			said = now
			log.Error().Err(err).Dur("for", now.Sub(since)).Strs("servers", g.options.EtcdServers).Msg("etcd does not answer: writes and reads of the latest state fail until it does")
		}
		controller.Pause(ctx, storeWatchEvery)
	}
}
