package admitting

import (
	"context"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

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
	params               policy.Params
	authorizer           authorizer.UnconditionalAuthorizer
	metrics              *metrics.Metrics
	log                  zerolog.Logger
	all                  zerolog.Logger // log without what keeps it short
}

var (
	_ resource.Mutator   = &Admission{}
	_ resource.Validator = &Admission{}
)

// New makes the stages; what is in force is looked at when writes come.
func New(c Config) *Admission {
	log := c.Log.With().Str("component", "admission").Logger()
	connect := connector{c.Module}.connect
	a := &Admission{
		mutating: mutatingHooks(c.Catalog, connect, log), validating: validatingHooks(c.Catalog, connect, log),
		mutations: mutatingPolicies(c.Catalog, log), validations: validatingPolicies(c.Catalog, log), params: params{c.Catalog},
		authorizer: authorizes{c.Authorizer}, metrics: c.Metrics, all: log,
		log: log.Sample(&zerolog.BurstSampler{Burst: 3, Period: logPeriod}),
	}
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

// Mutate implements [resource.Mutator].
func (a *Admission) Mutate(ctx context.Context, w *resource.Write) error {
	def := w.Resource.Def
	if exempt(w) {
		return nil
	}
	policies, hooks := a.mutations.about(ctx, def), about(ctx, a.mutating, def)
	if policies == nil && hooks == nil {
		return nil
	}
	r := a.request(w)
	return admission.Mutate(ctx, r, policy.Stage(policies, r, a.params, a.observe), admission.Mutation(hooks, r))
}

// Validate implements [resource.Validator].
func (a *Admission) Validate(ctx context.Context, w *resource.Write) error {
	def := w.Resource.Def
	if exempt(w) {
		return nil
	}
	policies, hooks := a.validations.about(ctx, def), about(ctx, a.validating, def)
	if policies == nil && hooks == nil {
		return nil
	}
	r := a.request(w)
	if err := policy.Validate(ctx, policies, r, a.params, a.observe); err != nil {
		return err
	}
	return admission.Validate(ctx, hooks, r)
}

// about are the webhooks that may match writes to a resource; nil when there
// are none, or they are off.
func about(ctx context.Context, s *hooks, d *crd.Definition) []*admission.Hook {
	if s == nil {
		return nil
	}
	if c := s.now(ctx); c != nil {
		return c.all.About(d.GroupResource(), d.Groups()[1:]...)
	}
	return nil
}

// exempt tells that a write is never subject to admission: configurations and
// policies are not, as a broken one could not be removed; nor is what the gateway
// found out of a module, which is believed, and says what is broken.
func exempt(w *resource.Write) bool {
	if w.Resource.Def.Group == admissionv1.GroupName {
		return true
	}
	return w.Options.Caller.Own && w.Subresource == "status" && w.Resource.GroupResource() == gvr.Modules
}
