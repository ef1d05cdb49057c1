package webhooks

import (
	"context"
	"encoding/json"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Config is what [Webhooks] need. All fields are required.
type Config struct {
	// Catalog serves the configurations.
	Catalog *catalog.Catalog
	// Authorizer answers conditions that ask what users may do.
	Authorizer authz.Authorizer
	// Module calls the module of that name; the reply belongs to accept.
	Module ModuleCall
	Log    zerolog.Logger
}

// ModuleCall asks the admission hook of a module. Its error is the module's, or
// accept's.
type ModuleCall func(ctx context.Context, name string, review []byte, accept func(reply []byte) error) error

// Webhooks are the mutating and the validating stage of writes.
type Webhooks struct {
	mutating, validating *source
	authorizer           authorizer.UnconditionalAuthorizer
	log                  zerolog.Logger
}

var (
	_ resource.Mutator   = &Webhooks{}
	_ resource.Validator = &Webhooks{}
)

// New makes the stages; configurations are looked at when writes come.
func New(c Config) *Webhooks {
	log := c.Log.With().Str("component", "admission").Logger()
	connect := connector{c.Module}.connect
	return &Webhooks{
		mutating: newSource(c.Catalog, "mutatingwebhookconfigurations", true, log, func(data []byte) ([]*admission.Hook, error) {
			var m admissionv1.MutatingWebhookConfiguration
			err := json.Unmarshal(data, &m)
			return admission.Mutating(&m, connect), err
		}),
		validating: newSource(c.Catalog, "validatingwebhookconfigurations", false, log, func(data []byte) ([]*admission.Hook, error) {
			var v admissionv1.ValidatingWebhookConfiguration
			err := json.Unmarshal(data, &v)
			return admission.Validating(&v, connect), err
		}),
		authorizer: authorizes{c.Authorizer},
		log:        log.Sample(&zerolog.BurstSampler{Burst: 3, Period: logPeriod}),
	}
}

// Mutate implements [resource.Mutator].
func (h *Webhooks) Mutate(ctx context.Context, w *resource.Write) error {
	if hooks := h.mutating.about(ctx, w); hooks != nil {
		r := h.request(w)
		return admission.Mutate(ctx, r, admission.Mutation(hooks, r))
	}
	return nil
}

// Validate implements [resource.Validator].
func (h *Webhooks) Validate(ctx context.Context, w *resource.Write) error {
	if hooks := h.validating.about(ctx, w); hooks != nil {
		return admission.Validate(ctx, hooks, h.request(w))
	}
	return nil
}

// configurations are never subject to webhooks: a broken one could not be
// removed.
const configurations = admissionv1.GroupName

func exempt(gr schema.GroupResource) bool { return gr.Group == configurations }
