package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/bounds"
	"github.com/wasmgate/wasmgate/gateway/bounds/memory"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/garbage"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/all"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
	"github.com/wasmgate/wasmgate/gateway/server/accounting"
	"github.com/wasmgate/wasmgate/gateway/server/storagebackend"
)

// newEngine makes the engine with all built-in definitions, as the kinds extend them.
func (g *gateway) newEngine(ctx context.Context) (*engine.Engine, error) {
	builtins, err := g.builtins()
	if err != nil {
		return nil, err
	}
	turns := bounds.NewTurns(runtime.GOMAXPROCS(0))
	if g.guards, err = guarded(ctx, g, builtins); err != nil {
		return nil, err
	}
	if g.kinds, err = all.Kinds(ctx, kinds.Config{
		Options: g.options, Definitions: builtins, Guards: g.guards, URL: g.url, Trust: g.identity.Trust(), ProxyCertificate: func() (*tls.Certificate, error) { return g.identity.Proxy().GetCertificate(nil) },
		ProxyTrust: g.identity.Proxy().Trust(), ClientAuthorities: g.identity.ClientAuthorities(), Store: g.store, StoreHealth: g.storeHealth, Metrics: g.metrics, ModuleMemory: g.memory.For(memory.Modules), Turns: turns, Log: g.log,
	}); err != nil {
		return nil, err
	}
	log := g.log.With().Str("component", "engine").Logger()
	served := catalog.Options{
		Store: g.store, Prefix: g.options.EtcdPrefix + "/", Builtins: append(builtins, definition.Definition()),
		ViewBytes: g.options.ViewCacheBytes, Log: log,
		Spared: func(n int) { g.metrics.ConversionCacheHits.Add(float64(n)) },
	}
	reports := map[schema.GroupResource]resource.Report{}
	for _, k := range g.kinds {
		for _, d := range builtins {
			if k.Extend != nil {
				k.Extend(d)
			}
		}
		if k.Compile != nil {
			served.Compile, served.Convert = k.Compile, k.Convert
		}
		maps.Copy(reports, k.Reports)
	}
	o := engine.Options{
		Store: g.store, Catalog: catalog.New(served), Log: log, DeleteWorkers: g.options.DeleteCollectionWorkers, Turns: turns, NoPast: !g.options.Enabled(options.ListFromCacheSnapshot), Reports: reports,
		Objects: func(e *engine.Engine) crd.Objects { return local.Part(e, "modules") },
	}
	if g.authorizer, err = g.authorizers(o.Catalog); err != nil {
		return nil, err
	}
	if err := g.showMemory(o.Catalog); err != nil {
		return nil, err
	}
	o.Admission = func(e *engine.Engine) (c admission.Chain) {
		c, err = g.admission(e)
		return c
	}
	made := engine.New(o)
	return made, err
}

// admission is what is asked about every request: the plugins that are on.
func (g *gateway) admission(e *engine.Engine) (admission.Chain, error) {
	var all []admission.Plugin
	for _, k := range g.kinds {
		if k.Admission == nil {
			continue
		}
		plugins, err := k.Admission(e, g.authorizer)
		if err != nil {
			return admission.Chain{}, err
		}
		all = append(all, plugins...)
	}
	chain, err := admission.NewChain(g.options.Admits, all...)
	chain.Observe(accounting.Admission{M: g.metrics})
	return chain, err
}

// showMemory adds metrics of what is kept in memory beside the objects.
func (g *gateway) showMemory(served *catalog.Catalog) error {
	stored := func() (out []metrics.Objects) {
		served.Snapshot().Stored(func(gr schema.GroupResource, of catalog.Stored) {
			out = append(out, metrics.Objects{Group: gr.Group, Resource: gr.Resource, Stored: of.Objects, Bytes: of.Bytes, Events: of.Events})
		})
		return out
	}
	return errors.Join(
		g.metrics.StoredObjects(stored),
		metrics.ShowStorageSize(g.metrics, sizeOf(g.store)),
		g.metrics.GaugeFunc("wasmgate_view_cache_bytes", "Memory of what is remembered for readers beside the objects as they are stored, about.", func() float64 { return float64(served.ViewBytes()) }),
		g.metrics.GaugeFunc("wasmgate_watch_history_bytes", "Memory of past states that are kept for watches, about.", func() float64 { return float64(served.Cache().HistoryBytes()) }),
	)
}

// sizeOf tells the size of a database, for who reads metrics and does not wait for long.
func sizeOf(s storagebackend.Store) func() (int64, error) {
	return func() (int64, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return s.Size(ctx)
	}
}

// showGates tells which features are on, and warns of settings that do nothing and of
// metrics that will go.
func (g *gateway) showGates() {
	metrics.Disable(g.metrics, g.options.DisabledMetrics)
	if g.options.Profiling && g.options.ContentionProfiling {
		runtime.SetBlockProfileRate(1)
	}
	for _, gate := range g.options.Gates() {
		g.metrics.Feature(gate.Name, gate.Stage, gate.On)
	}
	for _, w := range append(append(g.options.GateWarnings(), options.InertWarnings(g.options.InertSet)...), g.metrics.Live(g.options.Release(), g.options.ShowHiddenMetricsForVersion != "")...) {
		g.log.Warn().Msg(w)
	}
	if g.options.Authentication.Asks() {
		g.metrics.IncludeLibrary("apiserver_authentication_", "authentication_token_cache_")
	}
	if g.options.AnonymousAuth && !g.options.AllowsAnonymous() {
		g.log.Warn().Msg("requests without credentials are refused, in spite of --anonymous-auth: --authorization-mode would allow them everything")
	}
}

// builtins are the built-in kinds that are served.
func (g *gateway) builtins() ([]*crd.Definition, error) {
	choice, err := g.options.Runtime()
	if err != nil {
		return nil, fmt.Errorf("--runtime-config: %w", err)
	}
	opts := builtin.Options{EventTTL: g.options.EventTTL, EssentialOnly: g.options.API == options.CustomAPI, Choice: choice, Release: g.options.Release()}
	opts.Declared.On, opts.Declared.TakeOver = g.options.Enabled(options.DeclarativeValidation), g.options.Enabled(options.DeclarativeValidationTakeover)
	opts.Declared.Differ = func(of, what string) {
		g.metrics.DeclarativeMismatch()
		g.log.Error().Str("of", of).Msg("validation and declarative validation differ: " + what)
	}
	opts.Declared.Panicked = func(of string, cause any) {
		g.metrics.DeclarativePanic()
		g.log.Error().Str("of", of).Any("panic", cause).Msg("declarative validation panicked")
	}
	all, err := builtin.All(opts)
	if err != nil {
		return nil, fmt.Errorf("--runtime-config: %w", err)
	}
	return all, nil
}

// serve makes what the kinds do in requests and in the background.
func (g *gateway) serve() (served kinds.Served, err error) {
	for _, k := range g.kinds {
		if k.Serve == nil {
			continue
		}
		one, err := k.Serve(g.engine)
		if err != nil {
			return served, err
		}
		served.Add(one)
	}
	served.Add(kinds.Served{Controllers: func() []kinds.Controller {
		collector := collectors{g, garbage.DefaultRate}.New(local.Part(g.engine, "garbage-collector"))
		return []kinds.Controller{{Switch: options.GarbageCollector, Controller: collector}}
	}})
	return served, nil
}

// lead runs the controllers that must run in one place, new ones whenever this one
// is elected.
func (g *gateway) lead(ctx context.Context) error {
	return ended(ctx, g.store.Lead(ctx, g.options.EtcdPrefix, func(ctx context.Context) {
		var on []controller.Controller
		var off []string
		for _, c := range g.served.Controllers() {
			switch {
			case c.Switch == "" || g.options.Runs(c.Switch):
				on = append(on, c.Controller)
			case !slices.Contains(off, c.Switch):
				off = append(off, c.Switch)
				g.log.Info().Str("controller", c.Switch).Msg("turned off by --controllers")
			}
		}
		controller.Run(ctx, g.log, local.Part(g.engine, "controllers"), on...)
	}))
}
