package admitting

import (
	"context"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/admission/webhook"
)

// mutatingPolicies is the plugin MutatingAdmissionPolicy.
type mutatingPolicies struct {
	ask *policy.Dispatcher
	all *bound[*policy.Mutation]
}

// Name implements [admission.Plugin].
func (mutatingPolicies) Name() string { return order.MutatingAdmissionPolicy }

// Begin implements [admission.Reinvoked].
func (p mutatingPolicies) Begin(ctx context.Context, a admission.Attributes) func(*admission.Reinvocation) admission.Stage {
	all := p.all.about(ctx, a)
	if all == nil {
		return nil
	}
	return func(r *admission.Reinvocation) admission.Stage { return p.ask.Stage(all, r) }
}

// mutatingWebhooks is the plugin MutatingAdmissionWebhook.
type mutatingWebhooks struct {
	ask *webhook.Dispatcher
	all *hooks
}

// Name implements [admission.Plugin].
func (mutatingWebhooks) Name() string { return order.MutatingAdmissionWebhook }

// Begin implements [admission.Reinvoked].
func (p mutatingWebhooks) Begin(ctx context.Context, a admission.Attributes) func(*admission.Reinvocation) admission.Stage {
	all := p.all.about(ctx, a)
	if all == nil {
		return nil
	}
	return func(r *admission.Reinvocation) admission.Stage { return p.ask.Stage(all, r) }
}

// validatingPolicies is the plugin ValidatingAdmissionPolicy.
type validatingPolicies struct {
	ask *policy.Dispatcher
	all *bound[*policy.Validation]
}

// Name implements [admission.Plugin].
func (validatingPolicies) Name() string { return order.ValidatingAdmissionPolicy }

// Validate implements [admission.Validator].
func (p validatingPolicies) Validate(ctx context.Context, a admission.Attributes) error {
	all := p.all.about(ctx, a)
	if all == nil {
		return nil
	}
	return p.ask.Validate(ctx, all, a)
}

// validatingWebhooks is the plugin ValidatingAdmissionWebhook.
type validatingWebhooks struct {
	ask *webhook.Dispatcher
	all *hooks
}

// Name implements [admission.Plugin].
func (validatingWebhooks) Name() string { return order.ValidatingAdmissionWebhook }

// Validate implements [admission.Validator].
func (p validatingWebhooks) Validate(ctx context.Context, a admission.Attributes) error {
	all := p.all.about(ctx, a)
	if all == nil {
		return nil
	}
	return p.ask.Validate(ctx, all, a)
}
