package admitting

import (
	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/admission/webhook"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// observer counts and logs what is decided.
type observer struct {
	metrics  *metrics.Metrics
	log, all zerolog.Logger // all without what keeps log short
}

// decided counts what policies decide.
func (o observer) decided(d policy.Decision) {
	o.metrics.PolicyCheck(d.Mutating, d.Policy, d.Binding, d.Error, string(d.Enforcement), d.Elapsed.Seconds())
}

// called counts the calls of webhooks about a write, and logs what modules
// decide: refusals as information, the rest for who looks closer.
func (o observer) called(r admission.Attributes, c webhook.Call) {
	o.metrics.WebhookCall(metrics.Webhook{
		Name: c.Hook.Name, Operation: string(c.Operation), Mutating: c.Hook.Mutating, Code: c.Code,
		Rejected: c.Rejected, Error: c.Outcome, Seconds: c.Elapsed.Seconds(),
	})
	module, ok := crd.ModuleName(c.Hook.URL)
	if !ok {
		return
	}
	level := zerolog.DebugLevel
	if c.Rejected {
		level = zerolog.InfoLevel
	}
	o.all.WithLevel(level).Str("module", module).Str("webhook", c.Hook.Name).Str("operation", string(c.Operation)).
		Str("resource", r.GetResource().GroupResource().String()).Str("namespace", r.GetNamespace()).Str("name", r.GetName()).
		Bool("allowed", !c.Rejected).Stringer("took", c.Elapsed).AnErr("reason", c.Err).Msg("a module decided")
}

// ignored logs a failure that the failurePolicy of a webhook ignores.
func (o observer) ignored(hook *webhook.Hook, err error) {
	o.log.Warn().Str("configuration", hook.Configuration).Err(err).Msg("failure ignored")
}
