package storagebackend

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/server/encryption"
	"github.com/wasmgate/wasmgate/storage/encrypted"
)

// encryptedStore is a store with encrypted values. What its other methods keep is no
// value of anybody.
type encryptedStore struct {
	*encrypted.Store
	below Store
}

// Healthy implements Store.
func (s encryptedStore) Healthy(ctx context.Context) error { return s.below.Healthy(ctx) }

// Size implements Store.
func (s encryptedStore) Size(ctx context.Context) (int64, error) { return s.below.Size(ctx) }

// Lead implements Store.
func (s encryptedStore) Lead(ctx context.Context, name string, run func(context.Context)) error {
	return s.below.Lead(ctx, name, run)
}

// RunCompactor implements Store.
func (s encryptedStore) RunCompactor(ctx context.Context, interval time.Duration) error {
	return s.below.RunCompactor(ctx, interval)
}

// Encryption is how what is stored is encrypted, nil for not at all: each method does
// nothing then.
type Encryption struct {
	of    *encryption.Encryption
	end   context.CancelFunc
	store encryptedStore
}

// ReadEncryption reads how what is stored is to be encrypted, if the options say that it
// is. gateway names this one in messages. What it begins goes on when ctx ends, as writes do
// while the gateway drains, until [Encryption.Close].
func ReadEncryption(ctx context.Context, o options.Serve, gateway string, log zerolog.Logger) (*Encryption, error) {
	if o.EncryptionProviderConfig == "" {
		return nil, nil
	}
	keys, err := resourceKeys(o)
	if err != nil {
		return nil, err
	}
	contents := module.ContentRoot(o.EtcdPrefix)
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	of, err := encryption.Load(ctx, encryption.Config{
		Path: o.EncryptionProviderConfig, Reload: o.EncryptionProviderConfigAutomaticReload, Gateway: gateway,
		ResourceOf: func(key string) schema.GroupResource {
			if strings.HasPrefix(key, contents) {
				return gvr.Modules
			}
			return keys.ResourceOf(key)
		},
		Log: log.With().Str("component", "encryption").Logger(),
	})
	if err != nil {
		end()
		return nil, options.Mistake{Err: fmt.Errorf("--encryption-provider-config: %w", err)}
	}
	return &Encryption{of: of, end: end}, nil
}

// Around is a store with encryption between it and everything else, whose metrics are
// shown with m's; the store itself without any.
func (e *Encryption) Around(s Store, m *metrics.Metrics) Store {
	if e == nil {
		return s
	}
	m.IncludeLibrary(encryption.Families...)
	e.store = encryptedStore{Store: encrypted.New(s, e.of, e.of.Failed), below: s}
	return e.store
}

// Run brings changes of the encryption into force until ctx ends, for the store that
// Around made.
func (e *Encryption) Run(ctx context.Context) {
	if e != nil {
		e.of.Run(ctx, e.store.Recheck)
	}
}

// checkAge is how old the answer about key services may be.
const checkAge = time.Second

// AddCheck adds the check of key services, if there may be any. Each has the time
// that its configuration says.
func (e *Encryption) AddCheck(r *health.Registry) {
	if e != nil && e.of.Probed() {
		r.AddWithin(0, encryption.HealthCheck, health.Cached(e.of.Healthy, 0, checkAge, nil), health.Healthz, health.Readyz)
	}
}

// Close ends what reading began.
func (e *Encryption) Close() {
	if e != nil {
		e.end()
	}
}
