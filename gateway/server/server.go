package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/filter"
	"github.com/wasmgate/wasmgate/gateway/audit"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/authz/structured"
	"github.com/wasmgate/wasmgate/gateway/bounds"
	"github.com/wasmgate/wasmgate/gateway/bounds/memory"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/discovery/documents"
	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki/private"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/server/accounting"
	"github.com/wasmgate/wasmgate/gateway/server/identity"
	"github.com/wasmgate/wasmgate/gateway/server/storagebackend"
	"github.com/wasmgate/wasmgate/gateway/transport"
)

// drainTimeout is how long requests and streams may take to end at shutdown.
const drainTimeout = 30 * time.Second

// leastDecoding is how many times the largest body there is room for at least:
// common objects take up to thirty times their size, and one body may take three
// eighths of all.
const leastDecoding = 80

// gateway is a gateway being run.
type gateway struct {
	options  options.Serve
	url      string // where clients on this machine reach it
	name     string // among those that share a store
	log      zerolog.Logger
	store    storagebackend.Store
	engine   *engine.Engine
	identity *identity.Identity
	// authorizer says who may do what, to whoever asks.
	authorizer authz.Decider
	// chain is the same where it can change, and nil where it cannot.
	chain *structured.Chain
	// guards are what no request changes, nil for nothing.
	guards *guards.Guards
	kinds  []kinds.Kind
	served kinds.Served // what the kinds do
	health *health.Registry
	// storeHealth tells whether the store is well.
	storeHealth health.Check
	// encryption is that of the store's values, nil for none.
	encryption *storagebackend.Encryption
	metrics    *metrics.Metrics
	memory     *memory.Budget
	audit      *audit.Trail
	hooks      hooks
	handler    *api.Handler
	http       *transport.Server
}

// Run serves until ctx ends, and then stops in order: readiness fails, the
// shutdown delay passes, connections drain, background work ends, the store is
// closed. It calls started once the gateway is ready.
func Run(ctx context.Context, o options.Serve, log zerolog.Logger, started func(options.Started)) (err error) {
	if err := o.Validate(); err != nil {
		return err
	}
	g := newGateway(o, log)
	if err := look(ctx, g); err != nil {
		return err
	}
	// The port is taken first: a conflict should not leave a database behind.
	listener, err := net.Listen("tcp", net.JoinHostPort(o.BindAddress, strconv.Itoa(o.SecurePort)))
	if err != nil {
		return fmt.Errorf("--bind-address, --secure-port: %w", err)
	}
	g.url, g.name = identity.URL(o, listener.Addr()), nameAt(listener.Addr())
	closeStore := func() error { return nil }
	defer func() { err = errors.Join(err, g.close(context.WithoutCancel(ctx)), closeStore()) }()
	if g.encryption, err = storagebackend.ReadEncryption(ctx, o, g.name, log); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := openData(o.DataDir); err != nil {
		return errors.Join(fmt.Errorf("--data-dir: %w", err), listener.Close())
	}
	store, end, err := storagebackend.Open(ctx, o, g.metrics, log)
	if err != nil {
		if ctx.Err() != nil { // told to stop while starting
			err = nil
		}
		return errors.Join(err, listener.Close())
	}
	g.store, closeStore = g.encryption.Around(store, g.metrics), end
	log.Info().Int64("budget", g.memory.Total()).Int64("go", memory.LimitRuntime(g.memory.Total())).Msg("memory")
	if err := g.build(ctx); err != nil {
		return errors.Join(err, listener.Close())
	}
	return g.run(ctx, listener, started)
}

// newGateway makes one of which nothing is built yet: it has no address and no store.
func newGateway(o options.Serve, log zerolog.Logger) *gateway {
	return &gateway{options: o, log: log, metrics: metrics.New(), memory: memory.New(cmp.Or(o.MemoryBudget, memory.Available()))}
}

// openData makes the data directory. In one that is there, whatever is read
// again must come from nobody else: keys, machine code, a database.
func openData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := private.Parent(dir); err != nil {
		return err
	}
	for _, sub := range []string{"etcd", "pki", "wasm-cache"} {
		if err := private.Folder(filepath.Join(dir, sub)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// close frees what build made.
func (g *gateway) close(ctx context.Context) error {
	var errs []error
	for _, k := range g.kinds {
		if k.Close != nil {
			errs = append(errs, k.Close(ctx))
		}
	}
	errs = append(errs, g.flush(ctx))
	if g.identity != nil {
		g.identity.Close()
	}
	g.encryption.Close()
	return errors.Join(errs...)
}

// build makes every part; nothing runs yet.
func (g *gateway) build(ctx context.Context) (err error) {
	g.showGates()
	if err := metrics.ShowMemory(g.metrics, g.memoryNow); err != nil {
		return err
	}
	if g.identity, err = identity.New(context.WithoutCancel(ctx), g.options, g.name, g.reread); err != nil {
		return err
	}
	g.storeHealth = health.Cached(g.store.Healthy, g.options.EtcdHealthcheckTimeout, storeCheckAge, nil)
	if g.engine, err = g.newEngine(ctx); err != nil {
		return err
	}
	if g.served, err = g.serve(); err != nil {
		return err
	}
	g.health = g.newHealth()
	auditor, err := g.auditor()
	if err != nil {
		return err
	}
	g.handler = g.newHandler(auditor)
	open := bounds.NewConnections(bounds.ConnectionLimits{PerAddress: g.options.MaxConnectionsPerAddress, PerUser: g.options.MaxConnectionsPerUser})
	if err := metrics.ShowConnections(g.metrics, func() metrics.Connections { return metrics.Connections(open.Count()) }); err != nil {
		return err
	}
	g.http = transport.New(transport.Options{
		Handler: g.handler, TLS: g.identity.TLS(), Connections: open,
		Bodies: g.memory.For(memory.Bodies), Refused: refused(auditor), Log: g.log.With().Str("component", "http").Logger(),
	})
	return nil
}

// newHandler makes what answers requests.
func (g *gateway) newHandler(auditor api.Auditor) *api.Handler {
	authenticator := append(append(authn.Union{g.identity.Authenticator()}, g.served.Authenticators...), g.identity.Others()...) // who is far away last
	return filter.New(filter.Config{
		Config: api.Config{
			Routes: api.Routes{Engine: g.engine, Contents: g.served.Contents, Questions: g.served.Questions, Connections: g.served.Connections, Elsewhere: g.served.Elsewhere},
			CBOR:   g.options.Enabled(options.CBORServingAndStorage), Uncompressed: !g.options.Enabled(options.APIResponseCompression),
			UnsafeDeletion: g.options.Enabled(options.AllowUnsafeMalformedObjectDeletion), NoWatchLists: !g.options.Enabled(options.WatchList),
			Authorizer: g.authorizer, Observer: accounting.New(g.metrics),
			Documents: append(documents.All(documents.Config{
				Health: g.health, Metrics: g.metrics, Ready: g.engine.Ready(), Orders: g.served.Orders, Others: g.served.Others, Kinds: g.served.Documents, Profiling: g.options.Profiling, Release: g.options.Release(),
				Report: func(err error) { g.log.Error().Err(err).Str("component", "documents").Msg("a document is incomplete") },
			}), g.served.Debug...),
			Reviews:        g.served.Reviews(authenticator, g.authorizer),
			RequestTimeout: g.options.RequestTimeout, MinWatchTimeout: time.Duration(g.options.MinRequestTimeout) * time.Second,
		},
		Decides: accounting.Authorizer{Authorizer: g.authorizer, Access: g.metrics.Access}, Authenticator: accounting.Authenticator{Authenticator: authenticator, Access: g.metrics.Access}, Anonymous: g.identity.Anonymous(), Auditor: auditor, Log: g.log, Flow: g.served.Flow, Bounds: bounds.New(g.limits()), StrictTransportSecurity: g.options.TLS.StrictTransportSecurity(), AllowedOrigins: g.options.Clients.Origins(), GoawayChance: g.options.Clients.GoawayChance, MaxBodyBytes: g.options.MaxRequestBodyBytes,
	})
}

// limits are what may be under way at a time.
func (g *gateway) limits() bounds.Limits {
	o := g.options
	l := bounds.Limits{
		Watches: o.MaxWatchesPerUser, Decoding: g.memory.For(memory.Decoding), Lists: g.memory.For(memory.Lists), Watching: g.memory.For(memory.Watches),
	}
	if g.served.Flow == nil {
		l.Reading, l.Changing = o.MaxRequestsInFlight, o.MaxMutatingRequestsInFlight
	}
	if most := o.MaxDecodingMemory; most > 0 {
		l.Bytes = max(most, leastDecoding*int64(o.MaxRequestBodyBytes))
	}
	return l
}

// run starts everything in order and stops it in the reverse one. It ends when
// ctx does, without an error, or when a part fails.
func (g *gateway) run(ctx context.Context, listener net.Listener, started func(options.Started)) error {
	// Background work outlives ctx: it ends after the last request.
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	work, background := errgroup.WithContext(background)

	work.Go(func() error { return ended(background, g.engine.Run(background)) })
	work.Go(func() error { return ended(ctx, g.http.Serve(listener)) })
	work.Go(func() error { return g.compact(background) })
	work.Go(func() error {
		g.memory.Run(background)
		return nil
	})
	work.Go(func() error {
		storagebackend.Watch(background, g.storeHealth, g.options.EtcdServers, g.log)
		return nil
	})
	work.Go(func() error {
		g.encryption.Run(background)
		return nil
	})
	work.Go(func() error {
		g.guards.Follow(background)
		return nil
	})
	work.Go(func() error {
		g.identity.Run(background, g.late)
		return nil
	})
	work.Go(func() error {
		if g.chain != nil {
			g.chain.Run(background, func(err error) { g.reread("--authorization-config", err) })
		}
		return nil
	})
	work.Go(func() error {
		s, err := g.start(background, work)
		if s != nil && ctx.Err() == nil {
			started(*s)
		}
		return ended(background, err)
	})

	select {
	case <-ctx.Done():
		g.log.Info().Msg("shutting down")
	case <-background.Done(): // something that must not end did
	}
	g.leave(background)
	if ctx.Err() != nil && g.options.ShutdownDelay > 0 {
		controller.Pause(background, g.options.ShutdownDelay)
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := g.http.Shutdown(drain); err != nil { // slow clients are no failure of the gateway
		g.log.Warn().Err(err).Msg("connections cut")
	}
	stop()
	return work.Wait()
}

// leaveTimeout is how long a gateway that stops waits for others to know.
const leaveTimeout = 5 * time.Second

// leave has the gateway not be ready any more, and tells others that it goes, while it
// still answers: who finds it now would find a closed port soon. It tells nobody once ctx,
// that of background work, ended.
func (g *gateway) leave(ctx context.Context) {
	g.hooks.shutdown()
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	for _, step := range g.served.Starts {
		if step.Leave == nil || ctx.Err() != nil {
			continue
		}
		if err := step.Leave(ctx); err != nil {
			g.log.Warn().Err(err).Str("step", step.Name).Msg("others are not told that this gateway stops")
		}
	}
}

// start waits for the engine, begins the background work and makes the gateway
// ready. It returns nil when ctx ends first.
func (g *gateway) start(ctx context.Context, work *errgroup.Group) (*options.Started, error) {
	select {
	case <-g.engine.Ready():
	case <-ctx.Done():
		return nil, nil
	}
	g.hooks.objects()
	lead := sync.OnceFunc(func() { work.Go(func() error { return g.lead(ctx) }) })
	background := func(run func()) { work.Go(func() error { run(); return nil }) }
	finish := func() {}
	for n, step := range g.served.Starts {
		finish()
		if !step.First {
			lead()
		}
		if err := step.Run(ctx, g.name, background); err != nil {
			return nil, err
		}
		finish = g.hooks.starts[n]
	}
	lead()
	err := g.identity.WriteKubeconfig(g.options, g.url)
	if err != nil {
		return nil, fmt.Errorf("writing the kubeconfig: %w", err)
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	finish() // the last step counts once clients find their way here
	return &options.Started{URL: g.url, Kubeconfig: g.options.KubeconfigPath(), DataDir: g.options.DataDir, Embedded: g.options.Embedded()}, nil
}

// nameAt is what this gateway is called among those of a store: its host and port.
func nameAt(addr net.Addr) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		port = "unknown"
	}
	return net.JoinHostPort(host, port)
}

// compact drops old history as kube-apiserver does.
func (g *gateway) compact(ctx context.Context) error {
	if g.options.EtcdCompactionInterval == 0 {
		return nil
	}
	return ended(ctx, g.store.RunCompactor(ctx, g.options.EtcdCompactionInterval))
}

// ended drops the error of work that ended because it was told to.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
