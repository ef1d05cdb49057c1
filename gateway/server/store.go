package server

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/definitions"
	"github.com/wasmgate/wasmgate/gateway/accounting"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/storage/etcd"
)

// openStore opens the store that the options ask for: an etcd cluster, or one
// inside this process. close ends it.
func openStore(ctx context.Context, o options.Serve, m *metrics.Metrics, log zerolog.Logger) (store *etcd.Store, close func() error, err error) {
	log = log.With().Str("component", "etcd").Logger()
	builtins, err := builtin.All(builtin.Options{})
	if err != nil {
		return nil, nil, err
	}
	prefixes := map[string]schema.GroupResource{}
	for _, d := range append(builtins, definitions.Definition()) {
		prefixes[d.KeyPrefix] = d.GroupResource()
	}
	observe := accounting.NewStore(m, o.EtcdPrefix+"/", prefixes).Observe
	if !o.Embedded() {
		log.Info().Strs("servers", o.EtcdServers).Msg("connecting") // which takes as long as etcd takes to answer
		s, err := etcd.Open(ctx, etcd.Config{
			Endpoints: o.EtcdServers, CAFile: o.EtcdCAFile, CertFile: o.EtcdCertFile, KeyFile: o.EtcdKeyFile, Logger: log, Observe: observe,
		})
		if err != nil {
			return nil, nil, fmt.Errorf("--etcd-servers: %w", err)
		}
		return s, s.Close, nil
	}
	e, err := etcd.StartEmbedded(ctx, etcd.EmbeddedConfig{
		Dir: filepath.Join(o.DataDir, "etcd"), ListenClientURL: o.EmbeddedEtcdClientURL, Logger: log, Observe: observe,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("embedded etcd: %w", err)
	}
	if url := e.ClientURL(); url != "" {
		log.Warn().Str("url", url).Msg("embedded etcd listens for clients without authentication")
	}
	return e.Store(), e.Close, nil
}
