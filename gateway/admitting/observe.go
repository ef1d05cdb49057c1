package admitting

import (
	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// observe counts what policies decide.
func (a *Admission) observe(d policy.Decision) {
	a.metrics.PolicyCheck(d.Mutating, d.Policy, d.Binding, d.Error, string(d.Enforcement), d.Elapsed.Seconds())
}

// called counts the calls of webhooks about a write, and logs what modules
// decide: refusals as information, the rest for who looks closer. It reads r when
// it is called: the name of an object that is created is known only then.
func (a *Admission) called(r *admission.Request) func(admission.Call) {
	return func(c admission.Call) {
		a.metrics.WebhookCall(metrics.Webhook{
			Name: c.Hook.Name, Operation: c.Operation, Mutating: c.Hook.Mutating, Code: c.Code,
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
		a.all.WithLevel(level).Str("module", module).Str("webhook", c.Hook.Name).Str("operation", c.Operation).
			Str("resource", r.Resource.GroupResource().String()).Str("namespace", r.Namespace).Str("name", r.Name).
			Bool("allowed", !c.Rejected).Stringer("took", c.Elapsed).AnErr("reason", c.Err).Msg("a module decided")
	}
}
