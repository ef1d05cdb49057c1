package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/admission/plugin/limitranger"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/admitting"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/garbage"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/all"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/compile"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/bindings"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/status"
	quotas "github.com/wasmgate/wasmgate/gateway/kinds/quota"
	"github.com/wasmgate/wasmgate/gateway/kinds/service"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
	"github.com/wasmgate/wasmgate/plugins"
)

// newEngine makes the engine with all built-in definitions.
func (g *gateway) newEngine() (*engine.Engine, error) {
	builtins, err := g.builtins()
	if err != nil {
		return nil, err
	}
	if g.services, err = g.serviceConfig(builtins); err != nil {
		return nil, err
	}
	g.kinds = all.Kinds(all.Config{
		Options: g.options, Definitions: builtins, URL: g.url, Store: g.store, StoreHealth: g.storeHealth, Modules: g.modules, Lines: g.lines, Calls: g.calls,
		Services: g.services, Metrics: g.metrics, Log: g.log,
	})
	reports := map[schema.GroupResource]resource.Report{}
	for _, k := range g.kinds {
		for _, d := range builtins {
			if k.Extend != nil {
				k.Extend(d)
			}
		}
		maps.Copy(reports, k.Reports)
	}
	converters := compile.Converters{Module: g.modules.Converter, Known: g.modules.Known, Count: g.calls.Count, Metrics: g.metrics, Log: g.log}
	log := g.log.With().Str("component", "engine").Logger()
	served := catalog.New(catalog.Options{
		Store: g.store, Prefix: g.options.EtcdPrefix + "/", Builtins: append(builtins, definition.Definition()),
		Compile: compile.Definition, Convert: converters.Converter, ViewBytes: g.options.ViewCacheBytes, Log: log,
		Spared: func(n int) { g.metrics.ConversionCacheHits.Add(float64(n)) },
	})
	g.authorizer = g.authorizers(served)
	if err := g.showMemory(served); err != nil {
		return nil, err
	}
	o := engine.Options{Store: g.store, Catalog: served, Log: log, NoPast: !g.options.Enabled(options.ListFromCacheSnapshot)}
	o.Objects = func(e *engine.Engine) crd.Objects { return local.New(e, resource.Component("modules")) }
	o.Reports = reports
	o.Admission = func(e *engine.Engine) (c admission.Chain) {
		c, err = g.admission(e)
		return c
	}
	engine := engine.New(o)
	return engine, err
}

// admission is what is asked about every request: the plugins that are on.
func (g *gateway) admission(e *engine.Engine) (admission.Chain, error) {
	all := append(admitting.Plugins(admitting.Config{
		Catalog: e.Catalog(), Authorizer: g.authorizer, Module: g.modules.Admit(lookUp(e)), Metrics: g.metrics, Log: g.log,
	}), plugin.NamespaceAutoProvision{Objects: local.New(e, resource.Component("namespaces"))}, plugin.NamespaceLifecycle{},
		bindings.Bindings{Status: g.modules.Status}, status.Guard{})
	if q := quotas.New(e.Catalog()); q != nil {
		all = append(all, q)
	}
	if e.Catalog().Snapshot().Resource(schema.GroupResource{Resource: "limitranges"}) != nil {
		all = append(all, limitranger.Ranger{Ranges: local.New(e, resource.Component("limits"))})
	}
	if g.services != nil {
		objects := local.New(e, resource.Component("services"))
		all = append(all, service.New(*g.services, objects), plugin.DeviceAdmin{Namespaces: objects}, plugin.DefaultTolerationSeconds{}, plugin.RuntimeClass{Classes: objects},
			plugin.Priority{Classes: objects}, plugin.StorageObjectInUseProtection{})
	}
	return admission.NewChain(g.options.Admits, all...)
}

// lookUp finds objects for modules.
func lookUp(e *engine.Engine) plugins.Lookup {
	objects := local.New(e, resource.Component("modules"))
	return func(_ context.Context, o plugins.Object) ([]byte, error) {
		data, err := objects.Stored(schema.GroupResource{Group: o.Group, Resource: o.Resource}, o.Namespace, o.Name)
		if apierrors.IsNotFound(err) {
			return nil, plugins.ErrNoObject
		}
		return data, err
	}
}

// showMemory adds metrics of what is kept in memory beside the objects.
func (g *gateway) showMemory(served *catalog.Catalog) error {
	return errors.Join(
		g.metrics.GaugeFunc("wasmgate_view_cache_bytes", "Memory of what is remembered for readers beside the objects as they are stored, about.", func() float64 { return float64(served.ViewBytes()) }),
		g.metrics.GaugeFunc("wasmgate_watch_history_bytes", "Memory of past states that are kept for watches, about.", func() float64 { return float64(served.Cache().HistoryBytes()) }),
	)
}

// showGates tells which features are on, and warns of settings that do nothing.
func (g *gateway) showGates() {
	for _, gate := range g.options.Gates() {
		g.metrics.Feature(gate.Name, gate.Stage, gate.On)
	}
	for _, w := range g.options.GateWarnings() {
		g.log.Warn().Msg(w)
	}
}

// builtins are the built-in kinds that are served.
func (g *gateway) builtins() ([]*crd.Definition, error) {
	choice, err := g.options.Runtime()
	if err != nil {
		return nil, fmt.Errorf("--runtime-config: %w", err)
	}
	all, err := builtin.All(builtin.Options{EventTTL: g.options.EventTTL, EssentialOnly: g.options.API == options.CustomAPI, Choice: choice})
	if err != nil {
		return nil, fmt.Errorf("--runtime-config: %w", err)
	}
	return all, nil
}

// serviceConfig says which addresses and ports services have; nil when there are none.
func (g *gateway) serviceConfig(builtins []*crd.Definition) (*service.Config, error) {
	if !slices.ContainsFunc(builtins, func(d *crd.Definition) bool { return d.Group == "" && d.Plural == "services" }) {
		return nil, nil
	}
	addresses, err := g.options.ClusterIPs()
	if err != nil {
		return nil, err
	}
	first, last, err := g.options.NodePorts()
	return &service.Config{Addresses: addresses, Ports: service.Ports{First: first, Last: last}}, err
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
		collector := collectors{g, garbage.DefaultRate}.New(local.New(g.engine, resource.Component("garbage-collector")))
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
		controller.Run(ctx, g.log, local.New(g.engine, resource.Component("controllers")), on...)
	}))
}
