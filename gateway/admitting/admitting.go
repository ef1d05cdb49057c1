package admitting

import (
	"context"
	"strings"
	"time"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/admission/webhook"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// logPeriod is how often a few failures that were ignored are logged.
const logPeriod = 10 * time.Second

// Config is what the plugins need. All fields but Guards are required.
type Config struct {
	// Catalog serves configurations, policies and parameters.
	Catalog *catalog.Catalog
	// Authorizer answers expressions that ask what users may do.
	Authorizer authz.Authorizer
	// Module calls the module of that name; the reply belongs to accept.
	Module ModuleCall
	// Signers are who vouches for content of a module that serves.
	Signers ModuleSigners
	// Guards are what no request changes.
	Guards  *guards.Guards
	Metrics *metrics.Metrics
	Log     zerolog.Logger
}

// ModuleCall asks the admission hook of a module. Its error is the module's, or
// accept's; by is the digest of the content that replied, "" if none did.
type ModuleCall func(ctx context.Context, name string, review []byte, accept func(reply []byte) error) (by string, err error)

// ModuleSigners are who vouches for the content of a module that has a digest, none where
// nobody knows or demands it.
type ModuleSigners func(ctx context.Context, name, digest string) []string

// Plugins are the four that others configure, by policies and by webhooks. What is in
// force is looked at when requests come.
func Plugins(c Config) []admission.Plugin {
	log := c.Log.With().Str("component", "admission").Logger()
	seen := observer{metrics: c.Metrics, all: log, log: log.Sample(&zerolog.BurstSampler{Burst: 3, Period: logPeriod})}
	may := authorizes{c.Authorizer}
	webhooks := &webhook.Dispatcher{Authorizer: may, Called: seen.called, Ignored: seen.ignored, Signers: func(ctx context.Context, h *webhook.Hook, digest string) []string {
		module, _ := crd.ModuleName(h.URL)
		return c.Signers(ctx, module, digest)
	}}
	connect := func(plugin string) webhook.Dial { return connector{c.Module, c.Guards.Credentials(plugin)}.connect }
	policies := &policy.Dispatcher{Params: params{c.Catalog}, Authorizer: may, Observe: seen.decided}
	return []admission.Plugin{
		mutatingPolicies{policies, boundMutations(c.Catalog, c.Guards.Folder(order.MutatingAdmissionPolicy), log)},
		mutatingWebhooks{webhooks, mutatingHooks(c.Catalog, c.Guards.Folder(order.MutatingAdmissionWebhook), connect(order.MutatingAdmissionWebhook), log)},
		validatingPolicies{policies, boundValidations(c.Catalog, c.Guards.Folder(order.ValidatingAdmissionPolicy), log)},
		validatingWebhooks{webhooks, validatingHooks(c.Catalog, c.Guards.Folder(order.ValidatingAdmissionWebhook), connect(order.ValidatingAdmissionWebhook), log)},
	}
}

// isConfiguration reports whether a request is never subject to webhooks that the API has:
// configurations and policies are not, as a broken one could not be removed. What is in a
// folder can be.
func isConfiguration(a admission.Attributes) bool {
	return a.GetResource().Group == admissionv1.GroupName
}

// isPolicy reports whether a request is never subject to policies that the API has: those
// and their bindings are not, for the same reason.
func isPolicy(a admission.Attributes) bool {
	return isConfiguration(a) && strings.Contains(a.GetResource().Resource, "admissionpolic")
}

// isReview reports whether a request is subject to no policy at all: what others are
// authenticated and authorized by must not depend on one, as in kube-apiserver.
func isReview(a admission.Attributes) bool {
	switch a.GetResource().GroupResource() {
	case schema.GroupResource{Group: authenticationv1.GroupName, Resource: "tokenreviews"},
		schema.GroupResource{Group: authenticationv1.GroupName, Resource: "selfsubjectreviews"},
		schema.GroupResource{Group: authorizationv1.GroupName, Resource: "subjectaccessreviews"},
		schema.GroupResource{Group: authorizationv1.GroupName, Resource: "localsubjectaccessreviews"},
		schema.GroupResource{Group: authorizationv1.GroupName, Resource: "selfsubjectaccessreviews"},
		schema.GroupResource{Group: authorizationv1.GroupName, Resource: "selfsubjectrulesreviews"}:
		return true
	}
	return false
}

// found reports whether a request is never subject to admission: what the gateway found
// out of a module is not, which is believed, and says what is broken.
func found(a admission.Attributes) bool {
	return a.IsOwn() && a.GetSubresource() == "status" && a.GetResource().GroupResource() == gvr.Modules
}
