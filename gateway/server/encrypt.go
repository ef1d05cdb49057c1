package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/server/encryption"
	"github.com/wasmgate/wasmgate/storage/encrypted"
)

// encryptedStore is a store with encrypted values. What its other methods keep is no
// value of anybody.
type encryptedStore struct {
	*encrypted.Store
	below store
}

// Healthy implements store.
func (s encryptedStore) Healthy(ctx context.Context) error { return s.below.Healthy(ctx) }

// Size implements store.
func (s encryptedStore) Size(ctx context.Context) (int64, error) { return s.below.Size(ctx) }

// Lead implements store.
func (s encryptedStore) Lead(ctx context.Context, name string, run func(context.Context)) error {
	return s.below.Lead(ctx, name, run)
}

// RunCompactor implements store.
func (s encryptedStore) RunCompactor(ctx context.Context, interval time.Duration) error {
	return s.below.RunCompactor(ctx, interval)
}

// readEncryption reads how what is stored is encrypted, if it is.
func readEncryption(ctx context.Context, g *gateway) error {
	if g.options.EncryptionProviderConfig == "" {
		return nil
	}
	keys, err := resourceKeys(g.options)
	if err != nil {
		return err
	}
	contents := module.ContentRoot(g.options.EtcdPrefix)
	// Writes go on while the gateway drains.
	ctx, g.endEncryption = context.WithCancel(context.WithoutCancel(ctx))
	g.encryption, err = encryption.Load(ctx, encryption.Config{
		Path: g.options.EncryptionProviderConfig, Reload: g.options.EncryptionProviderConfigAutomaticReload, Gateway: g.name,
		ResourceOf: func(key string) schema.GroupResource {
			if strings.HasPrefix(key, contents) {
				return gvr.Modules
			}
			return keys.ResourceOf(key)
		},
		Log: g.log.With().Str("component", "encryption").Logger(),
	})
	if err != nil {
		return options.Mistake{Err: fmt.Errorf("--encryption-provider-config: %w", err)}
	}
	return nil
}

// encrypt puts encryption between the store and everything else, if it is asked for.
// Without it nothing stands there.
func (g *gateway) encrypt() {
	if g.encryption == nil {
		return
	}
	g.metrics.IncludeLibrary(encryption.Families...)
	g.store = encryptedStore{Store: encrypted.New(g.store, g.encryption, g.encryption.Failed), below: g.store}
}

// followEncryption brings changes of the encryption into force until ctx ends.
func (g *gateway) followEncryption(ctx context.Context) {
	if s, ok := g.store.(encryptedStore); ok {
		g.encryption.Run(ctx, s.Recheck)
	}
}

// addEncryptionCheck adds the check of key services, if there may be any.
func (g *gateway) addEncryptionCheck(r *health.Registry) {
	if g.encryption != nil && g.encryption.Probed() {
		r.Add(encryption.HealthCheck, g.encryption.Healthy, health.Healthz, health.Readyz)
	}
}
