package webhook

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"

	"github.com/wasmgate/wasmgate/admission"
)

// Caller reaches one webhook. It is safe for concurrent use.
type Caller interface {
	// Call sends a review and hands the reply to accept, to which it belongs,
	// and whose error it returns. by is the digest of the code that replied, "" where
	// nobody knows.
	Call(ctx context.Context, review []byte, accept func(reply []byte) error) (by string, err error)
}

// Sparer is a [Caller] that is not asked about some writes, whatever the rules
// of its webhook say: those that would mend it.
type Sparer interface {
	// Spares reports whether the request is such a write.
	Spares(a admission.Attributes) bool
}

// Hook is one webhook of a configuration, compiled. It is immutable.
type Hook struct {
	// Name is the webhook's own, Configuration that of the object it stands in.
	Name, Configuration string
	// URL is where it is, "" for one that is a service.
	URL string
	// Mutating tells which kind of configuration it stands in.
	Mutating bool

	index      int // in its [Set]
	scope      *admission.Scope
	conditions matchconditions.Matcher // nil when there are none
	ignores    bool                    // failurePolicy
	again      bool                    // reinvocationPolicy
	harmless   bool                    // has no side effects in dry runs
	timeout    time.Duration
	version    string // of reviews, "" when none is spoken here
	caller     Caller
	uncallable error // why there is no caller
}

// Dial makes the caller of a webhook, without a connection.
type Dial func(c admissionv1.WebhookClientConfig) (Caller, error)

// Validating compiles the webhooks of a configuration, which is not changed.
func Validating(c *admissionv1.ValidatingWebhookConfiguration, connect Dial) []*Hook {
	out := make([]*Hook, len(c.Webhooks))
	for i, h := range c.Webhooks {
		out[i] = compile(c.Name, &admissionv1.MutatingWebhook{
			Name: h.Name, ClientConfig: h.ClientConfig, Rules: h.Rules, FailurePolicy: h.FailurePolicy, MatchPolicy: h.MatchPolicy,
			NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector, SideEffects: h.SideEffects,
			TimeoutSeconds: h.TimeoutSeconds, AdmissionReviewVersions: h.AdmissionReviewVersions, MatchConditions: h.MatchConditions,
		}, connect, false)
	}
	return out
}

// Mutating does the same.
func Mutating(c *admissionv1.MutatingWebhookConfiguration, connect Dial) []*Hook {
	out := make([]*Hook, len(c.Webhooks))
	for i := range c.Webhooks {
		out[i] = compile(c.Name, &c.Webhooks[i], connect, true)
	}
	return out
}

func compile(configuration string, w *admissionv1.MutatingWebhook, connect Dial, mutating bool) *Hook {
	h := &Hook{
		Name: w.Name, Configuration: configuration, Mutating: mutating, scope: admission.NewHookScope(w),
		ignores:  w.FailurePolicy != nil && *w.FailurePolicy == admissionv1.Ignore,
		again:    w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == admissionv1.IfNeededReinvocationPolicy,
		harmless: w.SideEffects != nil && (*w.SideEffects == admissionv1.SideEffectClassNone || *w.SideEffects == admissionv1.SideEffectClassNoneOnDryRun),
		timeout:  10 * time.Second,
	}
	if u := w.ClientConfig.URL; u != nil {
		h.URL = *u
	}
	if w.TimeoutSeconds != nil {
		h.timeout = time.Duration(*w.TimeoutSeconds) * time.Second
	}
	for _, v := range w.AdmissionReviewVersions {
		if h.version == "" && (v == "v1" || v == "v1beta1") {
			h.version = v
		}
	}
	h.conditions = compileConditions(w, mutating)
	if h.caller, h.uncallable = connect(w.ClientConfig); h.uncallable != nil {
		h.uncallable = fmt.Errorf("could not get REST client: %w", h.uncallable)
	}
	if h.version == "" {
		h.uncallable = fmt.Errorf("could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)")
	}
	return h
}

// Unusable stands for all webhooks of a configuration that cannot be read. As
// nobody knows what they would say and to what, it matches and fails everything.
func Unusable(configuration string, mutating bool, cause error) *Hook {
	return &Hook{
		Name: configuration, Configuration: configuration, Mutating: mutating, harmless: true, scope: admission.NewScope(&admissionv1.MatchResources{}),
		uncallable: fmt.Errorf("its configuration cannot be read: %w", cause),
	}
}

// spares tells whether the webhook is not asked about a write that would mend it.
func (h *Hook) spares(a admission.Attributes) bool {
	s, ok := h.caller.(Sparer)
	return ok && s.Spares(a)
}
