package server

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/storage/etcd"
)

// openStore opens the store that the options ask for: an etcd cluster, or one
// inside this process. close ends it.
func openStore(ctx context.Context, o options.Serve, log zerolog.Logger) (store *etcd.Store, close func() error, err error) {
	log = log.With().Str("component", "etcd").Logger()
	if !o.Embedded() {
		s, err := etcd.Open(ctx, etcd.Config{
			Endpoints: o.EtcdServers, CAFile: o.EtcdCAFile, CertFile: o.EtcdCertFile, KeyFile: o.EtcdKeyFile, Logger: log,
		})
		if err != nil {
			return nil, nil, fmt.Errorf("--etcd-servers: %w", err)
		}
		return s, s.Close, nil
	}
	e, err := etcd.StartEmbedded(ctx, etcd.EmbeddedConfig{
		Dir: filepath.Join(o.DataDir, "etcd"), ListenClientURL: o.EmbeddedEtcdClientURL, Logger: log,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("embedded etcd: %w", err)
	}
	if url := e.ClientURL(); url != "" {
		log.Warn().Str("url", url).Msg("embedded etcd listens for clients without authentication")
	}
	return e.Store(), e.Close, nil
}
