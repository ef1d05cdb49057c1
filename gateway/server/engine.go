package server

import (
	"context"
	"strings"
	"time"

	"github.com/rs/zerolog"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/webhook"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/definitions"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/definition"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
	"github.com/wasmgate/wasmgate/gateway/controller/migration"
	"github.com/wasmgate/wasmgate/gateway/controller/module"
	"github.com/wasmgate/wasmgate/gateway/controller/namespace"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/plugins"
)

// newEngine makes the engine with all built-in definitions.
func (g *gateway) newEngine() (*resource.Engine, error) {
	builtins, err := builtin.All(builtin.Options{EventTTL: g.options.EventTTL})
	if err != nil {
		return nil, err
	}
	for _, d := range builtins {
		if d.GroupResource() == kinds.Modules {
			d.Hooks = moduleHooks{g}
		}
	}
	return resource.New(resource.Options{
		Store: g.store, Prefix: g.options.EtcdPrefix + "/", Builtins: append(builtins, definitions.Definition()),
		Compile: compile, Convert: g.converter, Log: g.log.With().Str("component", "engine").Logger(),
	}), nil
}

// compile is the catalog's compiler of custom resource definitions.
func compile(tree map[string]any) (*crd.Definition, error) {
	c, err := definitions.FromTree(tree)
	if err != nil {
		return nil, err
	}
	if !definitions.Served(c) {
		return nil, nil
	}
	return custom.Compile(c)
}

// moduleScheme is the URL scheme of a conversion that a module does.
const moduleScheme = "wasm://"

// converter makes the converter that a definition asks for.
func (g *gateway) converter(d *crd.Definition) (conversion.Converter, error) {
	c := d.Conversion
	if c == nil || c.Strategy != apiextensionsv1.WebhookConverter || c.Webhook == nil {
		return nil, nil
	}
	if cc := c.Webhook.ClientConfig; cc != nil && cc.URL != nil && strings.HasPrefix(*cc.URL, moduleScheme) {
		name := strings.TrimPrefix(*cc.URL, moduleScheme)
		return g.modules.converter(name).Observed(g.countCalls(name)), nil
	}
	w, err := webhook.New(webhook.Config{Conversion: c.Webhook})
	if err != nil {
		return nil, err
	}
	return conversion.Batched(w, conversion.Batch{}).Observed(logFailures(g.failures("definition", d.Plural+"."+d.Group))), nil
}

// failures is where failed conversions are logged: a few at once, then one
// every ten seconds, since every reader of every object may meet one.
func (g *gateway) failures(key, name string) zerolog.Logger {
	return g.log.With().Str("component", "conversion").Str(key, name).Logger().Sample(
		&zerolog.BurstSampler{Burst: 3, Period: 10 * time.Second})
}

// logFailures logs the failed calls of a converter.
func logFailures(log zerolog.Logger) func(conversion.Call) {
	return func(c conversion.Call) {
		if c.Err != nil {
			log.Warn().Err(c.Err).Str("to", c.To).Int("objects", c.Objects).Msg("conversion failed")
		}
	}
}

// countCalls counts the calls of a module, and logs those that fail.
func (g *gateway) countCalls(module string) func(conversion.Call) {
	logged := logFailures(g.failures("module", module))
	return func(c conversion.Call) {
		logged(c)
		result, converted := "success", c.Objects
		if c.Err != nil {
			result, converted = "error", 0
		}
		g.metrics.PluginCall(module, string(plugins.Convert), result, c.Took.Seconds())
		g.metrics.ConversionObjects.Add(float64(converted))
	}
}

// lead runs the controllers that must run in one place.
func (g *gateway) lead(ctx context.Context, objects resource.Internal) error {
	return ended(ctx, g.store.Lead(ctx, g.options.EtcdPrefix, func(ctx context.Context) {
		controller.Run(ctx, g.log, objects,
			namespace.NewBootstrap(objects),
			definition.NewStatus(objects, definitions.Conditions),
			definition.NewFinalizer(objects, objects),
			namespace.NewFinalizer(objects, objects),
			migration.New(objects, rewriter{g.engine, g.store, g.metrics}, serving{g.engine}),
			migration.NewAuto(objects),
		)
	}))
}

// moduleHooks refuses to delete a module that a definition refers to.
type moduleHooks struct{ g *gateway }

// BeforeDelete implements crd.Hooks.
func (h moduleHooks) BeforeDelete(ctx context.Context, obj map[string]any) (bool, error) {
	meta, _ := obj["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	return false, module.CheckDelete(ctx, h.g.engine.Internal(), name)
}
