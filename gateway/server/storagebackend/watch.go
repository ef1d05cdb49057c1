package storagebackend

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

const (
	// watchEvery is how often the store is looked at, answers how long it
	// may take to answer.
	watchEvery = 2 * time.Second
	answers    = 3 * time.Second
	// remind is how often the log repeats that the store does not answer.
	remind = time.Minute
)

// Watch logs when the store at some servers stops answering, and when it answers again,
// until ctx ends: whoever looks for the cause of what fails finds it there. healthy asks it.
func Watch(ctx context.Context, healthy func(context.Context) error, servers []string, log zerolog.Logger) {
	log = log.With().Str("component", "etcd").Logger()
	var since, said time.Time // since when it does not answer, and when that was said
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, answers)
		err := healthy(asked)
		cancel()
		now := time.Now()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !since.IsZero():
			log.Info().Dur("after", now.Sub(since)).Msg("etcd answers again")
			since = time.Time{}
		case err != nil && (since.IsZero() || now.Sub(said) >= remind):
			if since.IsZero() {
				since = now
			}
			said = now
			log.Error().Err(err).Dur("for", now.Sub(since)).Strs("servers", servers).Msg("etcd does not answer: writes and reads of the latest state fail until it does")
		}
		controller.Pause(ctx, watchEvery)
	}
}
