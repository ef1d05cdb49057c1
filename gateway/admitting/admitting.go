package admitting

import (
	"context"
	"time"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/admission/webhook"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// logPeriod is how often a few failures that were ignored are logged.
const logPeriod = 10 * time.Second

// Config is what the plugins need. All fields are required.
type Config struct {
	// Catalog serves configurations, policies and parameters.
	Catalog *catalog.Catalog
	// Authorizer answers expressions that ask what users may do.
	Authorizer authz.Authorizer
	// Module calls the module of that name; the reply belongs to accept.
	Module  ModuleCall
	Metrics *metrics.Metrics
	Log     zerolog.Logger
}

// ModuleCall asks the admission hook of a module. Its error is the module's, or
// accept's.
type ModuleCall func(ctx context.Context, name string, review []byte, accept func(reply []byte) error) error

// Plugins are the four that others configure, by policies and by webhooks. What is in
// force is looked at when requests come.
func Plugins(c Config) []admission.Plugin {
	log := c.Log.With().Str("component", "admission").Logger()
	seen := observer{metrics: c.Metrics, all: log, log: log.Sample(&zerolog.BurstSampler{Burst: 3, Period: logPeriod})}
	connect, may := connector{c.Module}.connect, authorizes{c.Authorizer}
	webhooks := &webhook.Dispatcher{Authorizer: may, Called: seen.called, Ignored: seen.ignored}
	policies := &policy.Dispatcher{Params: params{c.Catalog}, Authorizer: may, Observe: seen.decided}
	return []admission.Plugin{
		mutatingPolicies{policies, boundMutations(c.Catalog, log)}, mutatingWebhooks{webhooks, mutatingHooks(c.Catalog, connect, log)},
		validatingPolicies{policies, boundValidations(c.Catalog, log)}, validatingWebhooks{webhooks, validatingHooks(c.Catalog, connect, log)},
	}
}

// about are the webhooks that may match a request; nil when there are none.
func about(ctx context.Context, s *hooks, a admission.Attributes) []*webhook.Hook {
	if exempt(a) {
		return nil
	}
	if c := s.now(ctx); c != nil {
		return c.all.About(a)
	}
	return nil
}

// exempt reports whether a request is never subject to admission: configurations and
// policies are not, as a broken one could not be removed; nor is what the gateway
// found out of a module, which is believed, and says what is broken.
func exempt(a admission.Attributes) bool {
	at := a.GetResource()
	return at.Group == admissionv1.GroupName || a.IsOwn() && a.GetSubresource() == "status" && at.GroupResource() == gvr.Modules
}
