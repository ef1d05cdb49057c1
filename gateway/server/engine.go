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
	"github.com/wasmgate/wasmgate/gateway/metrics"
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
		if d.GroupResource() == controller.ModuleResource {
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
		return counted{g.modules.converter(name), g.metrics, name, g.failures("module", name)}, nil
	}
	w, err := webhook.New(webhook.Config{Conversion: c.Webhook})
	if err != nil {
		return nil, err
	}
	return logged{conversion.Checked(w), g.failures("definition", d.Plural+"."+d.Group)}, nil
}

// failures is where failed conversions are logged: a few at once, then one
// every ten seconds, since every reader of every object may meet one.
func (g *gateway) failures(key, name string) zerolog.Logger {
	return g.log.With().Str("component", "conversion").Str(key, name).Logger().Sample(
		&zerolog.BurstSampler{Burst: 3, Period: 10 * time.Second})
}

// logged logs the failures of a converter.
type logged struct {
	conversion.Converter
	log zerolog.Logger
}

// Convert implements conversion.Converter.
func (l logged) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	out, err := l.Converter.Convert(ctx, desired, objects)
	if err != nil {
		l.log.Warn().Err(err).Str("to", desired).Int("objects", len(objects)).Msg("conversion failed")
	}
	return out, err
}

// counted counts the calls of a module, and logs those that fail.
type counted struct {
	conversion.Converter
	metrics *metrics.Metrics
	module  string
	log     zerolog.Logger
}

// Convert implements conversion.Converter.
func (c counted) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	start := time.Now()
	out, err := c.Converter.Convert(ctx, desired, objects)
	result := "success"
	if err != nil {
		result = "error"
		c.log.Warn().Err(err).Str("to", desired).Int("objects", len(objects)).Msg("conversion failed")
	}
	c.metrics.PluginCall(c.module, string(plugins.Convert), result, time.Since(start).Seconds())
	c.metrics.ConversionObjects.Add(float64(len(out)))
	return out, err
}

// lead runs the controllers that must run in one place.
func (g *gateway) lead(ctx context.Context, objects controller.Objects) error {
	return ended(ctx, g.store.Lead(ctx, g.options.EtcdPrefix, func(ctx context.Context) {
		controller.Run(ctx, g.log, objects,
			controller.NewBootstrap(objects),
			controller.NewCRDStatus(objects, definitions.Conditions),
			controller.NewCRDFinalizer(objects),
			controller.NewNamespaceFinalizer(objects),
			controller.NewMigration(objects, rewriter{g.engine, g.store, g.metrics}, serving{g.engine}),
			controller.NewAutoMigration(objects),
		)
	}))
}

// moduleHooks refuses to delete a module that a definition refers to.
type moduleHooks struct{ g *gateway }

// BeforeDelete implements crd.Hooks.
func (h moduleHooks) BeforeDelete(ctx context.Context, obj map[string]any) (bool, error) {
	meta, _ := obj["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	return false, controller.CheckModuleDelete(ctx, h.g.engine.Internal(), name)
}
