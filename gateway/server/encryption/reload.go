package encryption

import (
	"context"
	"time"

	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig/metrics"
)

const (
	// lookEvery is how often the file is looked at, retryEvery how soon one is tried
	// again that could not be used, and recheckEvery how often values are that cannot
	// be read: a key service may be back.
	lookEvery    = time.Second
	retryEvery   = 10 * time.Second
	recheckEvery = 10 * time.Second
	// healthyWithin is how long the key services of a new file may take to be healthy.
	healthyWithin = 10 * time.Second
	healthyPoll   = 100 * time.Millisecond
)

// Run brings changes of the file into force until ctx ends, if that is wanted. It
// calls recheck, where values that could not be read are tried again, after each
// change and from time to time.
func (e *Encryption) Run(ctx context.Context, recheck func(context.Context)) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	rechecked := time.Now()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		if e.c.Reload && e.look(ctx, now) || now.Sub(rechecked) >= recheckEvery {
			recheck(ctx)
			rechecked = now
		}
	}
}

// look reports whether another file came into force.
func (e *Encryption) look(ctx context.Context, now time.Time) bool {
	hash, err := encryptionconfig.GetEncryptionConfigHash(e.c.Path)
	if err == nil && hash == e.hash {
		e.tried = hash
		return false
	}
	tries := hash
	if err != nil {
		tries = err.Error()
	}
	if tries == e.tried && now.Sub(e.triedAt) < retryEvery {
		return false
	}
	again := tries == e.tried
	e.tried, e.triedAt = tries, now
	if err == nil {
		err = e.load(ctx)
	}
	if err != nil {
		if !again { // first, as who sees the count looks here for the reason
			e.log.Error().Err(err).Str("file", e.c.Path).Msg("the file of --encryption-provider-config has changed and cannot be used: what it said before still counts")
		}
		metrics.RecordEncryptionConfigAutomaticReloadFailure(e.c.Gateway)
		return false
	}
	e.log.Info().Str("file", e.c.Path).Str("hash", e.hash).Msg("the file of --encryption-provider-config has changed and counts as it is now")
	metrics.RecordEncryptionConfigAutomaticReloadSuccess(e.c.Gateway, e.hash)
	return true
}

// load puts the file into force, once its key services are healthy.
func (e *Encryption) load(ctx context.Context) (err error) {
	ctx, end := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			end()
		}
	}()
	loaded, err := encryptionconfig.LoadEncryptionConfig(ctx, e.c.Path, true, e.c.Gateway)
	if err != nil {
		return withoutSecrets(err)
	}
	check := all(loaded.HealthChecks)
	within, cancel := context.WithTimeout(ctx, max(healthyWithin, loaded.KMSCloseGracePeriod))
	defer cancel()
	for err = healthy(within, check); err != nil; err = healthy(within, check) {
		select {
		case <-time.After(healthyPoll):
		case <-within.Done():
			return err
		}
	}
	e.transformers.Set(loaded.Transformers, end, check, loaded.KMSCloseGracePeriod)
	e.named.Store(&loaded.Transformers)
	e.hash = loaded.EncryptionFileContentHash
	return nil
}
