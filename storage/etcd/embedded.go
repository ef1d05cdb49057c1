package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/client/pkg/v3/types"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/config"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/features"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

const (
	memberName = "wasmgate"
	// peerURL is the address of the only member among its peers, of which
	// there are none; nothing listens there.
	peerURL = "http://127.0.0.1:0"
	// A single member wins every election; short ticks only let it start soon.
	tickMs        = 20
	electionTicks = 5
	quotaBytes    = 8 << 30
	// There is no follower to catch up, so little of the log is kept in memory.
	snapshotCount = 2000
	catchUpCount  = 100
	startTimeout  = time.Minute
	// A start reads one segment of the log; etcd's own size is 64 MB.
	segmentBytes = 16 << 20
)

var setSegmentBytes = sync.OnceFunc(func() { wal.SegmentSizeBytes = segmentBytes })

// EmbeddedConfig says where and how the server inside this process runs.
type EmbeddedConfig struct {
	// Dir is the data directory. It is made with mode 0700 if missing.
	Dir string
	// Wait is how long another process that holds Dir has to end, as one that was asked
	// to shut down soon will. Zero waits for nobody.
	Wait time.Duration
	// ListenClientURL, such as http://127.0.0.1:0 or unix:///path, lets other
	// processes read and write the store without any protection: it is there
	// for tests and debugging. Empty means no listener.
	ListenClientURL string
	// QuotaBytes is how much data there may be, with its history; 8 GiB if zero.
	QuotaBytes int64
	// Logger gets the server's errors. Its zero value is silent.
	Logger zerolog.Logger
	// Observe is told of every answered request; see [Observe]. Optional.
	Observe Observe
}

// Embedded is an etcd server with one member inside this process. What it
// acknowledged survives the process being killed.
type Embedded struct {
	store    *Store
	server   *etcdserver.EtcdServer
	lock     *fileutil.LockedFile
	listener *clientListener // nil without one
}

// StartEmbedded starts a server over the data directory of c and waits until
// it serves. It fails with [ErrDirInUse] when another process goes on holding
// the directory. The caller closes it.
func StartEmbedded(ctx context.Context, c EmbeddedConfig) (*Embedded, error) {
	lock, err := lockDir(ctx, c)
	if err != nil {
		return nil, err
	}
	e := &Embedded{lock: lock}
	if err := e.start(ctx, c); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Embedded) start(ctx context.Context, c EmbeddedConfig) error {
	setSegmentBytes()
	conf, err := serverConfig(c)
	if err != nil {
		return err
	}
	server, err := etcdserver.NewServer(conf)
	if err != nil {
		return fmt.Errorf("etcd: start in %s: %w", c.Dir, err)
	}
	server.Start()
	e.server = server
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	select {
	case <-server.ReadyNotify():
	case <-server.StopNotify():
		return fmt.Errorf("etcd: server in %s stopped while starting", c.Dir)
	case <-ctx.Done():
		return fmt.Errorf("etcd: server in %s did not become ready: %w", c.Dir, ctx.Err())
	}
	// From here on everything that was ever committed is applied, which makes
	// local reads linearizable.
	if err := server.LinearizableReadNotify(ctx); err != nil {
		return fmt.Errorf("etcd: server in %s: %w", c.Dir, err)
	}
	e.store = newStore(v3client.New(server), Config{Logger: c.Logger, Observe: c.Observe}, newLocalServer(server.KV(), server.Defragment, c.ListenClientURL != ""))
	watches := adapter.WatchServerToWatchClient(v3rpc.NewWatchServer(server))
	e.store.watches.newWatcher = func() clientv3.Watcher { return clientv3.NewWatchFromWatchClient(watches, e.store.client) }
	if c.ListenClientURL != "" {
		if e.listener, err = listenClients(server, c.ListenClientURL, c.Logger); err != nil {
			return err
		}
	}
	return nil
}

func serverConfig(c EmbeddedConfig) (config.ServerConfig, error) {
	peers, err := types.NewURLs([]string{peerURL})
	if err != nil {
		return config.ServerConfig{}, fmt.Errorf("etcd: peer URL: %w", err)
	}
	log := zapLogger(c.Logger)
	return config.ServerConfig{
		Name:                        memberName,
		DataDir:                     c.Dir,
		PeerURLs:                    peers,
		ClientURLs:                  peers,
		InitialPeerURLsMap:          types.URLsMap{memberName: peers},
		InitialClusterToken:         memberName,
		NewCluster:                  true,
		TickMs:                      tickMs,
		ElectionTicks:               electionTicks,
		SnapshotCount:               snapshotCount,
		SnapshotCatchUpEntries:      catchUpCount,
		MaxSnapFiles:                5,
		MaxWALFiles:                 5,
		QuotaBackendBytes:           cmp.Or(c.QuotaBytes, quotaBytes),
		BackendFreelistType:         bbolt.FreelistMapType,
		MaxTxnOps:                   128,
		MaxRequestBytes:             1536 << 10, // etcd's default, so that data can move to any cluster
		MaxConcurrentStreams:        1 << 20,
		AuthToken:                   "simple",
		BcryptCost:                  10,
		TokenTTL:                    300,
		Logger:                      log,
		WarningApplyDuration:        time.Second,
		WarningUnaryRequestDuration: time.Second,
		WatchProgressNotifyInterval: 5 * time.Second,
		MaxLearners:                 membership.DefaultMaxLearners,
		V2Deprecation:               config.V2DeprDefault,
		ServerFeatureGate:           features.NewDefaultServerFeatureGate(memberName, log),
		Metrics:                     "basic",
	}, nil
}

// Store returns the server's store, which lives until Close.
func (e *Embedded) Store() *Store { return e.store }

// ClientURL is where the client listener is reached, with the port it really
// has; empty without one.
func (e *Embedded) ClientURL() string {
	if e.listener == nil {
		return ""
	}
	return e.listener.url
}

// Close ends all watches, stops the server and frees the directory.
func (e *Embedded) Close() error {
	var errs []error
	if e.listener != nil {
		e.listener.close()
	}
	if e.store != nil {
		errs = append(errs, e.store.Close())
		e.store.local.end()
	}
	if e.server != nil {
		e.server.Stop()
	}
	errs = append(errs, e.lock.Close())
	return errors.Join(errs...)
}
