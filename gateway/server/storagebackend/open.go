package storagebackend

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/server/accounting"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/etcd"
)

// Store is what a gateway asks of the store that it serves.
type Store interface {
	storage.Store
	// Healthy fails when the store does not answer before ctx ends.
	Healthy(ctx context.Context) error
	// Size is how many bytes the database has on the disk of the member that answers.
	Size(ctx context.Context) (int64, error)
	// Lead runs run in one gateway at a time of those that share the name.
	Lead(ctx context.Context, name string, run func(context.Context)) error
	// RunCompactor drops history older than an interval until ctx ends.
	RunCompactor(ctx context.Context, interval time.Duration) error
}

// leaving is how long another gateway that holds the data directory has to end: one that
// was told to, just before this one was started, is answering its last requests.
const leaving = 15 * time.Second

// Open opens the store that the options ask for: an etcd cluster, or one inside this
// process. Its calls are counted in m. It fails where a kube-apiserver serves the store, if
// that is not asked for. The caller calls close, once nothing uses the store any more; it
// is nil with an error.
func Open(ctx context.Context, o options.Serve, m *metrics.Metrics, log zerolog.Logger) (store Store, close func() error, err error) {
	log = log.With().Str("component", "etcd").Logger()
	keys, err := resourceKeys(o)
	if err != nil {
		return nil, nil, err
	}
	observe := accounting.NewStore(m, keys.ResourceOf).Observe
	if !o.Embedded() {
		log.Info().Strs("servers", o.EtcdServers).Msg("connecting") // which takes as long as etcd takes to answer
		c := etcdFiles(o)
		c.Endpoints, c.Logger, c.Observe = o.EtcdServers, log, observe
		s, err := etcd.Open(ctx, c)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", flagOf(err), err)
		}
		if err := alone(ctx, s, o, log); err != nil {
			return nil, nil, errors.Join(err, s.Close())
		}
		return s, s.Close, nil
	}
	e, err := etcd.StartEmbedded(ctx, etcd.EmbeddedConfig{
		Dir: filepath.Join(o.DataDir, "etcd"), Wait: leaving, ListenClientURL: o.EmbeddedEtcdClientURL, Logger: log, Observe: observe,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("embedded etcd: %w", err)
	}
	if url := e.ClientURL(); url != "" {
		log.Warn().Str("url", url).Msg("embedded etcd listens for clients without authentication")
	}
	return e.Store(), e.Close, nil
}

// LookAtFiles refuses files by which an etcd cluster is reached that cannot be used; the
// error names the flag.
func LookAtFiles(o options.Serve) error {
	if err := etcd.LookAtFiles(etcdFiles(o)); err != nil {
		return fmt.Errorf("%s: %w", flagOf(err), err)
	}
	return nil
}

// etcdFiles are the files by which an etcd cluster is reached.
func etcdFiles(o options.Serve) etcd.Config {
	return etcd.Config{CAFile: o.EtcdCAFile, CertFile: o.EtcdCertFile, KeyFile: o.EtcdKeyFile}
}

// resourceKeys tells the resources of keys, also of kinds that are not served.
func resourceKeys(o options.Serve) (catalog.Keys, error) {
	builtins, err := builtin.All(builtin.Options{Choice: builtin.Choice{"api/all": true}})
	keys := catalog.Keys{Prefix: o.EtcdPrefix + "/", Builtins: map[string]schema.GroupResource{}}
	for _, d := range append(builtins, definition.Definition()) {
		keys.Builtins[d.KeyPrefix] = d.GroupResource()
	}
	return keys, err
}

// flagOf is the flag that an error of [etcd.Open] is about.
func flagOf(err error) string {
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(err, etcd.ErrCAFile) || errors.As(err, &unknown):
		return "--etcd-cafile"
	case errors.Is(err, etcd.ErrCertificate):
		return "--etcd-certfile, --etcd-keyfile"
	}
	return "--etcd-servers"
}

// foreignLeases are where kube-apiservers say that they are alive, by keys that
// vanish soon after they are not.
var foreignLeases = []string{"masterleases/", "peerserverleases/"}

// alone refuses a store that a kube-apiserver serves, unless that is meant: its
// controllers and those here would do the same work, and both would give away the
// same addresses.
func alone(ctx context.Context, s *etcd.Store, o options.Serve, log zerolog.Logger) error {
	for _, leases := range foreignLeases {
		page, err := s.Range(ctx, storage.Range{Prefix: o.EtcdPrefix + "/" + leases, Limit: 1})
		if err != nil {
			return fmt.Errorf("--etcd-servers: looking for other servers: %w", err)
		}
		if len(page.KVs) == 0 {
			continue
		}
		if o.ShareWithKubeAPIServer {
			log.Warn().Str("key", page.KVs[0].Key).Msg("a kube-apiserver serves the same store")
			return nil
		}
		return fmt.Errorf("--etcd-servers: a kube-apiserver serves this store below %s: its lease is %s. "+
			"Both would allocate the same addresses and run the same controllers. Name another etcd or another --etcd-prefix, "+
			"wait half a minute if it was just stopped, or set --share-with-kube-apiserver if this is meant", o.EtcdPrefix, page.KVs[0].Key)
	}
	return nil
}
