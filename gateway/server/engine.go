package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/definitions"
	"github.com/wasmgate/wasmgate/gateway/admitting"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/garbage"
	"github.com/wasmgate/wasmgate/gateway/kinds/componentstatus"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/compile"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/kinds/event"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/limitrange"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration/rewrite"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/bindings"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/coverage"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/host"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/image"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/shadow"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/status"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trial"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/upload"
	"github.com/wasmgate/wasmgate/gateway/kinds/namespace"
	policystatus "github.com/wasmgate/wasmgate/gateway/kinds/policy"
	quotas "github.com/wasmgate/wasmgate/gateway/kinds/quota"
	"github.com/wasmgate/wasmgate/gateway/kinds/quota/recount"
	"github.com/wasmgate/wasmgate/gateway/kinds/rolewarning"
	"github.com/wasmgate/wasmgate/gateway/kinds/service"
	"github.com/wasmgate/wasmgate/gateway/kinds/storageobject"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority/ordering"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
	"github.com/wasmgate/wasmgate/plugins"
)

// newEngine makes the engine with all built-in definitions.
func (g *gateway) newEngine() (*resource.Engine, error) {
	builtins, err := g.builtins()
	if err != nil {
		return nil, err
	}
	for _, d := range builtins {
		if d.GroupResource() == gvr.Modules {
			d.Hooks = module.InUse{}
			for _, v := range d.Versions {
				v.Strategy = upload.Sources{Strategy: v.Strategy, Checker: g.modules, Image: host.CheckImage}
			}
		}
	}
	converters := compile.Converters{Module: g.modules.Converter, Known: g.modules.Known, Count: g.calls.Count, Metrics: g.metrics, Log: g.log}
	log := g.log.With().Str("component", "engine").Logger()
	served := catalog.New(catalog.Options{
		Store: g.store, Prefix: g.options.EtcdPrefix + "/", Builtins: append(builtins, definitions.Definition()),
		Compile: compile.Definition, Convert: converters.Converter, ViewBytes: g.options.ViewCacheBytes, Log: log,
		Spared: func(n int) { g.metrics.ConversionCacheHits.Add(float64(n)) },
	})
	if err := g.showMemory(served); err != nil {
		return nil, err
	}
	if g.assigner, err = g.newAssigner(builtins); err != nil {
		return nil, err
	}
	o := resource.Options{Store: g.store, Catalog: served, Log: log, NoPast: !g.options.Enabled(options.ListFromCacheSnapshot), ProvisionNamespaces: g.options.Admits(options.NamespaceAutoProvision)}
	o.Objects = func(e *resource.Engine) crd.Objects { return local.New(e, resource.Component("modules")) }
	o.Reports = map[schema.GroupResource]resource.Report{componentstatus.Resource: g.components().Report}
	g.addAdmission(&o)
	engine := resource.New(o)
	g.orders = ordering.New(served, g.log)
	if g.assigner != nil {
		g.assigner.Objects = local.New(engine, resource.Component("services"))
	}
	return engine, nil
}

// addAdmission puts the plugins that are on in their order. LimitRanges are
// asked before webhooks, and again about what these added.
func (g *gateway) addAdmission(o *resource.Options) {
	on := g.options.Admits
	g.admission = admitting.New(admitting.Config{
		Catalog: o.Catalog, Authorizer: authz.Masters{}, Module: g.modules.Admit, Metrics: g.metrics, Log: g.log,
		Off: admitting.Off{
			MutatingPolicies: !on(options.MutatingAdmissionPolicy), MutatingWebhooks: !on(options.MutatingAdmissionWebhook),
			ValidatingPolicies: !on(options.ValidatingAdmissionPolicy), ValidatingWebhooks: !on(options.ValidatingAdmissionWebhook),
		},
	})
	o.Mutators = []resource.Mutator{g.admission}
	o.Validators = []resource.Validator{bindings.Bindings{Status: g.modules.Status}, status.Guard{}, rolewarning.Warner{}, g.admission}
	if ranges := limitrange.New(o.Catalog); ranges != nil && on(options.LimitRanger) {
		o.Mutators = []resource.Mutator{ranges, g.admission, ranges}
		o.Validators = slices.Insert(o.Validators, 1, resource.Validator(ranges))
	}
	if q := quotas.New(o.Catalog); q != nil && on(options.ResourceQuota) {
		o.Accounts = q
	}
	if g.assigner != nil {
		o.Mutators = append(o.Mutators, g.assigner, storageobject.Mutator{})
	}
}

// lookUp finds an object that a module was granted.
func (g *gateway) lookUp(_ context.Context, o plugins.Object) ([]byte, error) {
	data, err := local.New(g.engine, resource.Component("modules")).Stored(schema.GroupResource{Group: o.Group, Resource: o.Resource}, o.Namespace, o.Name)
	if apierrors.IsNotFound(err) {
		return nil, plugins.ErrNoObject
	}
	return data, err
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
	if w := g.options.AuthorizationWarning(); w != "" {
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

// newAssigner makes what sees to services and pods; nil when there are none.
func (g *gateway) newAssigner(builtins []*crd.Definition) (*service.Assigner, error) {
	if !slices.ContainsFunc(builtins, func(d *crd.Definition) bool { return d.Group == "" && d.Plural == "services" }) {
		return nil, nil
	}
	addresses, err := g.options.ClusterIPs()
	if err != nil {
		return nil, err
	}
	first, last, err := g.options.NodePorts()
	return service.New(service.Config{Addresses: addresses, Ports: service.Ports{First: first, Last: last}}), err
}

// optional are controllers that --controllers can turn off, by their names there.
type optional struct {
	name string
	of   []controller.Controller
}

// optional returns what kube-controller-manager does, too. stored are the objects of
// custom resources.
func (g *gateway) optional(as func(part string) local.Client, stored leftovers.Objects) []optional {
	gone := leftovers.Gone{Store: g.store, Root: "/wasmgate" + g.options.EtcdPrefix + "/gone/"}
	all := []optional{
		{options.Namespaces, []controller.Controller{namespace.NewFinalizer(as("namespaces"), as("namespaces"), stored, gone)}},
		{options.StorageVersionMigrator, []controller.Controller{
			migration.New(as("migrations"), rewrite.Rewriter{Catalog: g.engine.Catalog(), Store: g.store, Metrics: g.metrics}, rewrite.Serving{Catalog: g.engine.Catalog()}),
			migration.NewAuto(as("migrations")),
		}},
		{options.ValidatingAdmissionPolicyStatus, []controller.Controller{
			policystatus.New(as("admission"), func(p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error) {
				return policy.Check(p, admitting.Types{Catalog: g.engine.Catalog()})
			}),
		}},
		{options.GarbageCollector, []controller.Controller{collectors{g, garbage.DefaultRate}.New(as("garbage-collector"))}},
	}
	if g.engine.Catalog().Snapshot().Resource(gvr.Quotas) != nil {
		all = append(all, optional{options.ResourceQuotas, []controller.Controller{recount.New(as("quotas"))}})
	}
	if g.assigner != nil {
		protect := func(name string, gr schema.GroupResource) optional {
			return optional{name, []controller.Controller{storageobject.NewController(as("storage-protection"), gr)}}
		}
		all = append(all, protect(options.PersistentVolumeClaims, storageobject.Claims), protect(options.PersistentVolumes, storageobject.Volumes),
			protect(options.VolumeAttributesClasses, storageobject.Classes))
	}
	return all
}

// lead runs the controllers that must run in one place.
func (g *gateway) lead(ctx context.Context, objects local.Client) error {
	as := func(part string) local.Client { return objects.As(resource.Component(part)) }
	stored := leftovers.Objects{Store: g.store, Prefix: g.options.EtcdPrefix + "/"}
	return ended(ctx, g.store.Lead(ctx, g.options.EtcdPrefix, func(ctx context.Context) {
		all := []controller.Controller{
			namespace.NewBootstrap(as("namespaces")),
			definition.NewStatus(as("definitions"), definitions.Conditions),
			definition.NewFinalizer(as("definitions"), as("definitions"), stored),
			versionpriority.New(as("version-priorities"), g.modules, g.orders),
			module.NewCollector(as("modules"), g.modules.Contents()),
			image.New(as("modules"), g.modules.Images()),
			shadow.New(as("modules"), g.modules, g.modules.Content(), trial.Trials{Catalog: g.engine.Catalog(), Store: g.store, Converter: g.modules.Converter}),
			coverage.New(as("modules")),
			event.New(as("events"), gvr.Modules, gvr.Priorities),
		}
		if g.assigner != nil {
			all = append(all, service.NewAPI(as("services"), g.assigner.Config(), g.options.SecurePort), service.NewLedger(as("services")))
		}
		for _, c := range g.optional(as, stored) {
			if g.options.Runs(c.name) {
				all = append(all, c.of...)
			} else {
				g.log.Info().Str("controller", c.name).Msg("turned off by --controllers")
			}
		}
		controller.Run(ctx, g.log, objects, all...)
	}))
}
