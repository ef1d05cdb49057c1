// Package compile owns what becomes of a CustomResourceDefinition: the
// definition that is served, and the converter between its versions.
//
// It must not know who stores or serves objects.
package compile

import (
	"errors"
	"time"

	"github.com/rs/zerolog"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/webhook"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/plugins"
)

// Definition compiles a stored CustomResourceDefinition; nil means that it is
// not to be served (yet). What schemas are compiled to is made on first use,
// unless it was made for previous, what is served now, which may be nil.
func Definition(stored []byte, previous *crd.Definition) (*crd.Definition, error) {
	c, schemas, err := definition.Outline(stored)
	if err != nil {
		return nil, err
	}
	if !definition.Served(c) {
		return nil, nil
	}
	return custom.CompileLazily(c, schemas, previous)
}

// Modules are the modules that may convert.
type Modules interface {
	// Converter returns the converter that the module called name is.
	Converter(name string) *conversion.Bulk
	// Known tells whether there is such a module.
	Known(name string) bool
	// Count is told what each call of a module that there is came to.
	Count(name string, hook plugins.Hook, took time.Duration, err error)
}

// Rules are the rules that may convert.
type Rules interface {
	// Converter returns the converter that the rules called name are.
	Converter(name string) *conversion.Bulk
}

// Converters makes converters. All fields are required.
type Converters struct {
	Modules Modules
	Rules   Rules
	Metrics *metrics.Metrics
	Log     zerolog.Logger
}

// Converter makes the converter that a definition asks for: how it is called,
// in batches, and around that what is counted and logged of every call. nil
// means that versions differ in nothing but apiVersion.
func (c Converters) Converter(d *crd.Definition) (conversion.Converter, error) {
	asked := d.Conversion
	if asked == nil || asked.Strategy != apiextensionsv1.WebhookConverter || asked.Webhook == nil {
		return nil, nil
	}
	if cc := asked.Webhook.ClientConfig; cc != nil && cc.URL != nil {
		if name, ok := crd.RulesName(*cc.URL); ok {
			return c.OfRules(name), nil
		}
		if name, ok := crd.ModuleName(*cc.URL); ok {
			return c.OfModule(name), nil
		}
	}
	w, err := webhook.New(webhook.Config{Conversion: asked.Webhook})
	if err != nil {
		return nil, err
	}
	by := conversion.By{Webhook: where(asked.Webhook.ClientConfig)}
	return conversion.Batched(w, conversion.Batch{}).Named(func() conversion.By { return by }).Observed(c.timed(c.logged("definition", d.GroupResource().String()))), nil
}

// where a webhook is asked.
func where(c *apiextensionsv1.WebhookClientConfig) string {
	switch {
	case c == nil:
		return ""
	case c.URL != nil:
		return *c.URL
	case c.Service != nil:
		return "svc/" + c.Service.Namespace + "/" + c.Service.Name
	}
	return ""
}

// OfRules makes the converter that rules are.
func (c Converters) OfRules(name string) *conversion.Bulk {
	return c.Rules.Converter(name).Observed(c.logged("rules", name))
}

// OfModule makes the converter that a module is.
func (c Converters) OfModule(name string) *conversion.Bulk {
	return c.Modules.Converter(name).Observed(c.counted(name, c.logged("module", name)))
}

// logged logs the failed calls of a converter: a few at once, then one every
// ten seconds, since every reader of every object may meet one.
func (c Converters) logged(key, name string) func(conversion.Call) {
	log := c.Log.With().Str("component", "conversion").Str(key, name).Logger().Sample(
		&zerolog.BurstSampler{Burst: 3, Period: 10 * time.Second})
	return func(call conversion.Call) {
		if call.Err == nil {
			return
		}
		event := log.Warn().Str("to", call.To).Int("objects", call.Objects)
		var failure *conversion.Error
		if errors.As(call.Err, &failure) {
			event.Str("error", failure.LogText())
		}
		var panicked *conversion.Panic
		if errors.As(call.Err, &panicked) {
			event.Str("cause", panicked.Error()).Bytes("stack", panicked.Stack)
		}
		event.Msg("conversion failed")
	}
}

// timed counts the calls of a webhook before it hands them on.
func (c Converters) timed(next func(conversion.Call)) func(conversion.Call) {
	return func(call conversion.Call) {
		var refused *conversion.Error
		answered := errors.As(call.Err, &refused) && refused.Cause == nil
		c.Metrics.ConversionWebhooks.Called(call.Err != nil, answered, call.Took.Seconds())
		next(call)
	}
}

// counted counts the calls of a module before it hands them on.
func (c Converters) counted(module string, next func(conversion.Call)) func(conversion.Call) {
	return func(call conversion.Call) {
		result, converted := "success", call.Objects
		if call.Err != nil {
			result, converted = "error", 0
		}
		label := module
		if c.Modules.Known(module) {
			c.Modules.Count(module, plugins.Convert, call.Took, call.Err)
		} else { // a name that a definition invents makes no label
			label = ""
		}
		c.Metrics.Plugins.Call(label, string(plugins.Convert), result, call.Took.Seconds())
		c.Metrics.ConversionObjects.Add(float64(converted))
		next(call)
	}
}
