package server

import (
	"context"
	"errors"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/definitions"
	"github.com/wasmgate/wasmgate/gateway/admitting"
	"github.com/wasmgate/wasmgate/gateway/assign"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bindings"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/compile"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/definition"
	"github.com/wasmgate/wasmgate/gateway/controller/events"
	"github.com/wasmgate/wasmgate/gateway/controller/garbage"
	"github.com/wasmgate/wasmgate/gateway/controller/image"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
	"github.com/wasmgate/wasmgate/gateway/controller/migration"
	"github.com/wasmgate/wasmgate/gateway/controller/module"
	"github.com/wasmgate/wasmgate/gateway/controller/namespace"
	policystatus "github.com/wasmgate/wasmgate/gateway/controller/policy"
	"github.com/wasmgate/wasmgate/gateway/controller/priority"
	"github.com/wasmgate/wasmgate/gateway/controller/shadow"
	"github.com/wasmgate/wasmgate/gateway/leftovers"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/ordering"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/rewrite"
	"github.com/wasmgate/wasmgate/gateway/trial"
	"github.com/wasmgate/wasmgate/gateway/upload"
)

// newEngine makes the engine with all built-in definitions.
func (g *gateway) newEngine() (*resource.Engine, error) {
	builtins, err := builtin.All(builtin.Options{EventTTL: g.options.EventTTL, EssentialOnly: g.options.API == options.CustomAPI})
	if err != nil {
		return nil, err
	}
	var inUse module.InUse
	for _, d := range builtins {
		if d.GroupResource() == kinds.Modules {
			d.Hooks = &inUse
			for _, v := range d.Versions {
				v.Strategy = upload.Inline{Strategy: v.Strategy, Checker: g.modules}
			}
		}
	}
	converters := compile.Converters{Module: g.modules.Converter, Known: g.modules.Known, Metrics: g.metrics, Log: g.log}
	log := g.log.With().Str("component", "engine").Logger()
	served := catalog.New(catalog.Options{
		Store: g.store, Prefix: g.options.EtcdPrefix + "/", Builtins: append(builtins, definitions.Definition()),
		Compile: compile.Definition, Convert: converters.Converter, ViewBytes: g.options.ViewCacheBytes, Log: log,
		Spared: func(n int) { g.metrics.ConversionCacheHits.Add(float64(n)) },
	})
	if err := g.showMemory(served); err != nil {
		return nil, err
	}
	g.admission = admitting.New(admitting.Config{Catalog: served, Authorizer: authz.Masters{}, Module: g.modules.Admit, Metrics: g.metrics, Log: g.log})
	mutators := []resource.Mutator{g.admission}
	if g.assigner, err = g.newAssigner(); err != nil {
		return nil, err
	}
	if g.assigner != nil {
		mutators = append(mutators, g.assigner)
	}
	engine := resource.New(resource.Options{
		Store: g.store, Catalog: served, Log: log,
		Mutators: mutators, Validators: []resource.Validator{bindings.Bindings{Status: g.modules.Status}, g.admission},
	})
	g.orders = ordering.New(served, g.log)
	if g.assigner != nil {
		g.assigner.Objects = engine.Internal(resource.Component("services"))
	}
	inUse.Objects = engine.Internal(resource.Component("modules"))
	return engine, nil
}

// showMemory adds metrics of what is kept in memory beside the objects.
func (g *gateway) showMemory(served *catalog.Catalog) error {
	return errors.Join(
		g.metrics.GaugeFunc("wasmgate_view_cache_bytes", "Memory of what is remembered for readers beside the objects as they are stored, about.", func() float64 { return float64(served.ViewBytes()) }),
		g.metrics.GaugeFunc("wasmgate_watch_history_bytes", "Memory of past states that are kept for watches, about.", func() float64 { return float64(served.Cache().HistoryBytes()) }),
	)
}

// newAssigner makes what sees to services and pods; nil when there are none.
func (g *gateway) newAssigner() (*assign.Assigner, error) {
	if g.options.API != options.WholeAPI {
		return nil, nil
	}
	addresses, err := g.options.ClusterIPs()
	if err != nil {
		return nil, err
	}
	first, last, err := g.options.NodePorts()
	return assign.New(assign.Config{Addresses: addresses, Ports: assign.Ports{First: first, Last: last}}), err
}

// lead runs the controllers that must run in one place.
func (g *gateway) lead(ctx context.Context, objects resource.Internal) error {
	garbage := collectors{g, garbage.DefaultRate}
	as := func(part string) resource.Internal { return objects.As(resource.Component(part)) }
	stored := leftovers.Objects{Store: g.store, Prefix: g.options.EtcdPrefix + "/"}
	return ended(ctx, g.store.Lead(ctx, g.options.EtcdPrefix, func(ctx context.Context) {
		all := []controller.Controller{
			namespace.NewBootstrap(as("namespaces")),
			definition.NewStatus(as("definitions"), definitions.Conditions),
			definition.NewFinalizer(as("definitions"), as("definitions"), stored),
			namespace.NewFinalizer(as("namespaces"), as("namespaces"), stored),
			migration.New(as("migrations"), rewrite.Rewriter{Catalog: g.engine.Catalog(), Store: g.store, Metrics: g.metrics}, rewrite.Serving{Catalog: g.engine.Catalog()}),
			migration.NewAuto(as("migrations")),
			policystatus.New(as("admission"), func(p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error) {
				return policy.Check(p, admitting.Types{Catalog: g.engine.Catalog()})
			}),
			priority.New(as("version-priorities"), g.modules, g.orders),
			module.NewCollector(as("modules"), g.modules.Contents()),
			image.New(as("modules"), g.modules.Images()),
			shadow.New(as("modules"), g.modules, g.modules.Content(), trial.Trials{Catalog: g.engine.Catalog(), Store: g.store, Converter: g.modules.Converter}),
			events.New(as("events"), kinds.Modules, kinds.Priorities),
			garbage.New(as("garbage-collector")),
		}
		if g.assigner != nil {
			all = append(all, assign.NewAPI(as("services"), g.assigner.Config(), g.options.SecurePort), assign.NewLedger(as("services")))
		}
		controller.Run(ctx, g.log, objects, all...)
	}))
}
