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

// Config is what [Admission] needs. All fields but Off are required.
type Config struct {
	// Catalog serves configurations, policies and parameters.
	Catalog *catalog.Catalog
	// Authorizer answers expressions that ask what users may do.
	Authorizer authz.Authorizer
	// Module calls the module of that name; the reply belongs to accept.
	Module  ModuleCall
	Metrics *metrics.Metrics
	Log     zerolog.Logger
	// Off are what is never asked.
	Off Off
}

// Off tells of each stage whether it is off. The zero value is none.
type Off struct{ MutatingPolicies, MutatingWebhooks, ValidatingPolicies, ValidatingWebhooks bool }

// ModuleCall asks the admission hook of a module. Its error is the module's, or
// accept's.
type ModuleCall func(ctx context.Context, name string, review []byte, accept func(reply []byte) error) error

// Admission is the mutating and the validating stage of writes.
type Admission struct {
	mutating, validating *hooks
	mutations            *bound[*policy.Mutation]
	validations          *bound[*policy.Validation]
	webhooks             *webhook.Dispatcher
	policies             *policy.Dispatcher
	metrics              *metrics.Metrics
	log                  zerolog.Logger
	all                  zerolog.Logger // log without what keeps it short
}

var (
	_ admission.Mutator   = &Admission{}
	_ admission.Validator = &Admission{}
)

// New makes the stages; what is in force is looked at when writes come.
func New(c Config) *Admission {
	log := c.Log.With().Str("component", "admission").Logger()
	connect := connector{c.Module}.connect
	a := &Admission{
		mutating: mutatingHooks(c.Catalog, connect, log), validating: validatingHooks(c.Catalog, connect, log),
		mutations: mutatingPolicies(c.Catalog, log), validations: validatingPolicies(c.Catalog, log),
		metrics: c.Metrics, all: log, log: log.Sample(&zerolog.BurstSampler{Burst: 3, Period: logPeriod}),
	}
	may := authorizes{c.Authorizer}
	a.webhooks = &webhook.Dispatcher{Authorizer: may, Called: a.called, Ignored: a.ignored}
	a.policies = &policy.Dispatcher{Params: params{c.Catalog}, Authorizer: may, Observe: a.observe}
	a.switchOff(c.Off)
	return a
}

func (a *Admission) switchOff(o Off) {
	if o.MutatingPolicies {
		a.mutations = nil
	}
	if o.MutatingWebhooks {
		a.mutating = nil
	}
	if o.ValidatingPolicies {
		a.validations = nil
	}
	if o.ValidatingWebhooks {
		a.validating = nil
	}
}

// Mutate implements [admission.Mutator].
func (a *Admission) Mutate(ctx context.Context, w admission.Attributes) error {
	if exempt(w) {
		return nil
	}
	policies, hooks := a.mutations.about(ctx, w), about(ctx, a.mutating, w)
	if policies == nil && hooks == nil {
		return nil
	}
	r := admission.NewReinvocation(w)
	return admission.Mutate(ctx, r, a.policies.Stage(policies, r), a.webhooks.Stage(hooks, r))
}

// Validate implements [admission.Validator].
func (a *Admission) Validate(ctx context.Context, w admission.Attributes) error {
	if exempt(w) {
		return nil
	}
	policies, hooks := a.validations.about(ctx, w), about(ctx, a.validating, w)
	if policies == nil && hooks == nil {
		return nil
	}
	if err := a.policies.Validate(ctx, policies, w); err != nil {
		return err
	}
	return a.webhooks.Validate(ctx, hooks, w)
}

// about are the webhooks that may match writes to a resource; nil when there
// are none, or they are off.
func about(ctx context.Context, s *hooks, r admission.Resource) []*webhook.Hook {
	if s == nil {
		return nil
	}
	if c := s.now(ctx); c != nil {
		return c.all.About(r)
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
