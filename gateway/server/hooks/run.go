package hooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/host"
	modulelog "github.com/wasmgate/wasmgate/gateway/kinds/module/log"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
	"github.com/wasmgate/wasmgate/gateway/server/hooks/bundles"
	"github.com/wasmgate/wasmgate/plugins/compiler"
)

// drainTimeout is how long calls may take to end at shutdown.
const drainTimeout = 30 * time.Second

// webhooks are those being served.
type webhooks struct {
	options options.Webhooks
	log     zerolog.Logger
	serving *pki.Serving
	served  *served
	metrics *metrics.Webhooks
	health  *health.Registry
	http    *http.Server
}

// Run serves until ctx ends, and then stops in order: readiness fails, the shutdown delay
// passes, calls end, modules are closed. It calls started once everything is loaded.
func Run(ctx context.Context, o options.Webhooks, log zerolog.Logger, started func(options.WebhookStarted)) (err error) {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := look(ctx, o); err != nil {
		return options.Mistake{Err: err}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(o.BindAddress, strconv.Itoa(o.SecurePort)))
	if err != nil {
		return fmt.Errorf("--bind-address, --secure-port: %w", err)
	}
	defer listener.Close()
	all := metrics.New()
	runtime, err := newModules(ctx, o, all, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close(context.WithoutCancel(ctx))) }()
	w := &webhooks{options: o, log: log.With().Str("component", "webhook").Logger()}
	if err := w.build(runtime, all, log); err != nil {
		return err
	}
	seen := sight(o.Files)
	if err := w.served.load(ctx); err != nil {
		return err
	}
	if len(w.served.hooks()) == 0 {
		return errNothing
	}
	return w.run(ctx, listener, seen, started)
}

var errNothing = options.Mistake{Err: errors.New("the files have neither modules that convert or admit nor ConversionRules")}

// look refuses files that cannot be used, before anything is made.
func look(ctx context.Context, o options.Webhooks) error {
	if o.TLSCertFile != "" {
		if _, err := pki.FromFiles(o.TLSCertFile, o.TLSPrivateKeyFile); err != nil {
			return fmt.Errorf("--tls-cert-file: %w", err)
		}
	}
	if o.TLSCAFile != "" {
		if _, err := authorities(o.TLSCAFile); err != nil {
			return err
		}
	}
	if o.Inject != "" {
		if _, err := bundles.New(bundles.Config{Kubeconfig: o.Kubeconfig}); err != nil {
			return err
		}
	}
	for _, file := range o.Files {
		if info, err := os.Stat(file); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return nil // a pipe can be read once
		}
	}
	c, err := read(o.Files)
	if err == nil && len(c.from) == 0 {
		err = errNothing
	}
	if err != nil {
		return err
	}
	return c.check(ctx)
}

// newModules makes a host of modules as that of a gateway, which keeps nothing of them in
// a store.
func newModules(ctx context.Context, o options.Webhooks, all *metrics.Metrics, log zerolog.Logger) (modules, error) {
	processes, err := compiler.New(compiler.Limits{MemoryBytes: o.ModuleCompileMemory, CPU: o.ModuleCompileTime})
	if err != nil {
		return modules{}, err
	}
	m := modules{calls: calls.New()}
	m.Host, err = host.New(ctx, host.Config{
		Compiler: processes, CacheDir: filepath.Join(o.DataDir, "wasm-cache"),
		Metrics: all, Lines: modulelog.New(), Calls: m.calls, IdleBytes: o.ModuleIdleMemory, Log: log,
	})
	return m, err
}

func (w *webhooks) build(runtime modules, all *metrics.Metrics, log zerolog.Logger) (err error) {
	if w.options.TLSCertFile != "" {
		w.serving, err = pki.FromFiles(w.options.TLSCertFile, w.options.TLSPrivateKeyFile)
	} else {
		w.serving, err = pki.SelfSigned(filepath.Join(w.options.DataDir, "pki"), slices.Concat(pki.Hosts(w.options.BindAddress), w.options.Hosts), nil)
	}
	if err != nil {
		return err
	}
	if _, err := w.trust(); err != nil {
		return err
	}
	if w.metrics, err = metrics.NewWebhooks(all, func() float64 { return float64(w.serving.Ends().Unix()) }); err != nil {
		return err
	}
	w.served = newServed(w.options.Files, runtime, w.metrics, all, log)
	w.health = health.New(func(e health.Endpoint, check string, err error) {
		w.log.Warn().Str("endpoint", string(e)).Str("check", check).Err(err).Msg("health check failed")
	}, nil)
	w.http = &http.Server{
		Handler: newHandler(w.served, w.metrics, all, w.health, w.options.MaxRequestBodyBytes), MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 2 * callTimeout, IdleTimeout: 3 * time.Minute,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: w.serving.GetCertificate},
		ErrorLog:  stdlog.New(debug{w.log}, "", 0),
	}
	return nil
}

// trust is the bundle that verifies the certificate, as it is now.
func (w *webhooks) trust() ([]byte, error) {
	if w.options.TLSCAFile == "" {
		return w.serving.Trust(), nil
	}
	return authorities(w.options.TLSCAFile)
}

// authorities are the certificates in a file, as it has them.
func authorities(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--tls-ca-file: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("--tls-ca-file: %s has no certificate in PEM form", file)
	}
	return pki.Certificates(data), nil // which is published: the file may hold a key, too
}

func (w *webhooks) run(ctx context.Context, listener net.Listener, seen string, started func(options.WebhookStarted)) error {
	stop := w.health.Shutdown()
	work, end := context.WithCancel(ctx)
	defer end()
	group, work := errgroup.WithContext(work)
	if w.options.Inject != "" {
		injector, err := bundles.New(bundles.Config{
			Kubeconfig: w.options.Kubeconfig, Select: w.options.Inject, Trust: w.trust, Covers: w.serving.Covers,
			Paths: []string{convertPath, admitPath}, Done: w.metrics.Bundle, Log: w.log,
		})
		if err != nil {
			return err
		}
		group.Go(func() error { return injector.Run(work) })
	}
	group.Go(func() error {
		w.served.follow(work, seen)
		return nil
	})
	group.Go(func() error {
		if err := w.http.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	bundle, err := w.trust()
	if err != nil {
		return errors.Join(err, w.http.Close())
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return errors.Join(err, w.http.Close())
	}
	w.log.Info().Strs("webhooks", w.served.hooks()).Str("address", listener.Addr().String()).Msg("webhooks are served")
	started(options.WebhookStarted{URL: "https://" + net.JoinHostPort(w.host(), port), Paths: w.served.hooks(), CABundle: bundle})
	group.Go(func() error {
		<-work.Done()
		stop()
		w.log.Info().Dur("delay", w.options.ShutdownDelay).Msg("stopping: ready no more, and calls that are under way are answered")
		controller.Pause(context.WithoutCancel(ctx), w.options.ShutdownDelay)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		return w.http.Shutdown(bounded)
	})
	return group.Wait()
}

// host is the first name under which others reach the server.
func (w *webhooks) host() string {
	switch ip := net.ParseIP(w.options.BindAddress); {
	case len(w.options.Hosts) > 0:
		return w.options.Hosts[0]
	case ip.IsUnspecified():
		return "127.0.0.1"
	}
	return w.options.BindAddress
}

// debug logs what the HTTP server has to say of connections, which anybody can make.
type debug struct{ log zerolog.Logger }

var _ io.Writer = debug{}

func (d debug) Write(line []byte) (int, error) {
	d.log.Debug().Msg(string(line[:max(0, len(line)-1)]))
	return len(line), nil
}
