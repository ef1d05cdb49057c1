package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

const (
	defaultDialTimeout = 20 * time.Second
	keepAliveTime      = 30 * time.Second
	keepAliveTimeout   = 10 * time.Second
	// maxMessage bounds one message each way. Ranges are paged far below it.
	maxMessage = 32 << 20
	// healthKey is read to see that the cluster answers; it need not exist.
	healthKey = "/wasmgate/health"
)

// Config says which etcd cluster to use and how to reach it.
type Config struct {
	// Endpoints are the client URLs of the members. At least one.
	Endpoints []string
	// CertFile and KeyFile are this client's certificate and key, CAFile the
	// authorities that the servers' certificates must come from. All optional.
	CertFile, KeyFile, CAFile string
	// DialTimeout is how long Open waits for the first answer; 20 s if zero.
	DialTimeout time.Duration
	// ID is the name this process campaigns under in [Store.Lead]; the host
	// name and process id if empty.
	ID string
	// Logger gets the client's errors. Its zero value is silent.
	Logger zerolog.Logger
	// Observe is told of every answered request; see [Observe]. Optional.
	Observe Observe
}

// Observe is told of a request to etcd after it was answered or failed: get,
// list, create, update, delete or revision, the key or the prefix it was about,
// and how long it took. It is called concurrently and must be fast.
type Observe func(operation, key string, took time.Duration)

// begin starts the time of one request, which the function that it returns
// ends.
func (o Observe) begin(operation, key string) (end func()) {
	if o == nil {
		return func() {}
	}
	began := time.Now()
	return func() { o(operation, key, time.Since(began)) }
}

// Store is a storage.Store over etcd. All methods are safe for concurrent use.
type Store struct {
	client *clientv3.Client
	// local is the embedded server; nil for a remote cluster.
	local *localServer

	// The contract is kept by parts, each with what it alone needs.
	reader
	writer
	watches

	candidate candidate
	compactor compactor
}

var _ storage.Store = (*Store)(nil)

// Open connects to the cluster of c and waits until it answers. The caller
// closes the store.
func Open(ctx context.Context, c Config) (*Store, error) {
	if len(c.Endpoints) == 0 {
		return nil, fmt.Errorf("etcd: no endpoints")
	}
	tlsConfig, err := clientTLS(c)
	if err != nil {
		return nil, err
	}
	timeout := c.DialTimeout
	if timeout <= 0 {
		timeout = defaultDialTimeout
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            c.Endpoints,
		DialTimeout:          timeout,
		DialKeepAliveTime:    keepAliveTime,
		DialKeepAliveTimeout: keepAliveTimeout,
		MaxCallSendMsgSize:   maxMessage,
		MaxCallRecvMsgSize:   maxMessage,
		TLS:                  tlsConfig,
		Logger:               zapLogger(c.Logger),
	})
	if err != nil {
		return nil, fmt.Errorf("etcd: open %v: %w", c.Endpoints, err)
	}
	s := newStore(client, c, nil)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := s.Healthy(ctx); err != nil {
		_ = client.Close() // the reason is err
		if reason := unanswered(c.Endpoints, tlsConfig); reason != nil {
			err = fmt.Errorf("%w: %w", reason, err)
		}
		return nil, fmt.Errorf("etcd: %v did not answer: %w", c.Endpoints, err)
	}
	if err := checkVersions(ctx, client, c.Endpoints); err != nil {
		_ = client.Close() // the reason is err
		return nil, err
	}
	return s, nil
}

// Errors of the files in a [Config].
var (
	ErrCAFile      = errors.New("the file with the authorities")
	ErrCertificate = errors.New("the client certificate and its key")
)

// LookAtFiles tells why the files of a [Config] cannot be used.
func LookAtFiles(c Config) error {
	_, err := clientTLS(c)
	return err
}

func clientTLS(c Config) (*tls.Config, error) {
	if c.CertFile == "" && c.KeyFile == "" && c.CAFile == "" {
		return nil, nil
	}
	if c.CAFile != "" {
		conf, err := (transport.TLSInfo{TrustedCAFile: c.CAFile}).ClientConfig()
		if err == nil && conf.RootCAs.Equal(x509.NewCertPool()) {
			err = fmt.Errorf("%s has no certificate in PEM", c.CAFile)
		}
		if err != nil {
			return nil, fmt.Errorf("etcd: %w: %w", ErrCAFile, err)
		}
	}
	info := transport.TLSInfo{CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.CAFile}
	conf, err := info.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("etcd: %w: %w", ErrCertificate, err)
	}
	return conf, nil
}

// newStore makes a store of a client that is connected, as c says of what is not
// about the connection.
func newStore(client *clientv3.Client, c Config, local *localServer) *Store {
	id := c.ID
	if id == "" {
		host, _ := os.Hostname() // an empty host still leaves the process id
		id = fmt.Sprintf("%s_%d", host, os.Getpid())
	}
	s := &Store{client: client, local: local}
	s.reader = reader{client: client, local: local, observe: c.Observe}
	s.rev = newRevisionShare(s.readRevision)
	s.writer.committer = &committer{
		client: client, local: local, observe: c.Observe, reads: &s.reader,
		leases: newLeaseShare(grantBy(client), time.Now),
	}
	s.watches = watches{
		local: local, log: c.Logger, open: map[clientv3.Watcher]struct{}{},
		newWatcher: func() clientv3.Watcher { return clientv3.NewWatcher(client) },
	}
	s.candidate = candidate{client: client, local: local, log: c.Logger, id: id}
	s.compactor = compactor{client: client, local: local, log: c.Logger, revision: s.Revision}
	return s
}

// Close ends all watches and drops the connections. A store that came from
// [Embedded.Store] is closed by [Embedded.Close].
func (s *Store) Close() error {
	if err := s.client.Close(); err != nil && s.client.Ctx().Err() == nil {
		return fmt.Errorf("etcd: close: %w", err)
	}
	return nil
}

// Healthy reports whether the cluster has a leader and answers before ctx
// ends.
func (s *Store) Healthy(ctx context.Context) error {
	_, err := s.client.Get(ctx, healthKey, clientv3.WithCountOnly())
	return failed(ctx, err, "", 0)
}

// Size is how many bytes the database has on the disk of the member that answers first.
func (s *Store) Size(ctx context.Context) (int64, error) {
	endpoints := s.client.Endpoints()
	if len(endpoints) == 0 {
		endpoints = []string{""} // the one in this process
	}
	type answer struct {
		size int64
		err  error
	}
	answers := make(chan answer, len(endpoints))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, endpoint := range endpoints {
		go func() {
			status, err := statusOf(ctx, s.client, endpoint)
			if err != nil {
				answers <- answer{err: err}
				return
			}
			answers <- answer{size: status.DbSize}
		}()
	}
	var last error
	for range endpoints {
		a := <-answers
		if a.err == nil {
			return a.size, nil
		}
		last = a.err
	}
	return 0, failed(ctx, fmt.Errorf("no member tells its size: %w", last), "", 0)
}
