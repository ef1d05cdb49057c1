package admitting

import (
	"context"
	"sync/atomic"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// bound is the policies of one kind that are in force: policies joined with
// their bindings, whenever either changes.
type bound[P policy.Compiled] struct {
	policies *source[P, []P]
	bindings *source[*policy.Binding, []*policy.Binding]
	refuse   func(name string, cause error) P
	current  atomic.Pointer[joined[P]]
}

// joined is what was made of one state of both.
type joined[P policy.Compiled] struct {
	policies *compiled[P, []P]
	bindings *compiled[*policy.Binding, []*policy.Binding]
	set      *policy.Set[P]
}

func boundValidations(c *catalog.Catalog, log zerolog.Logger) *bound[*policy.Validation] {
	return &bound[*policy.Validation]{
		policies: newSource(c, "validatingadmissionpolicies", log, howPolicies(policy.NewValidation, policy.UnreadableValidation)),
		bindings: newSource(c, "validatingadmissionpolicybindings", log, howPolicies(func(b *admissionv1.ValidatingAdmissionPolicyBinding) *policy.Binding {
			return policy.Validating(b)
		}, policy.UnreadableBinding)),
		refuse: policy.UnreadableValidation,
	}
}

func boundMutations(c *catalog.Catalog, log zerolog.Logger) *bound[*policy.Mutation] {
	return &bound[*policy.Mutation]{
		policies: newSource(c, "mutatingadmissionpolicies", log, howPolicies(policy.NewMutation, policy.UnreadableMutation)),
		bindings: newSource(c, "mutatingadmissionpolicybindings", log, howPolicies(func(b *admissionv1.MutatingAdmissionPolicyBinding) *policy.Binding {
			return policy.Mutating(b)
		}, policy.UnreadableBinding)),
		refuse: policy.UnreadableMutation,
	}
}

func howPolicies[T, P any](compile func(*T) P, refuse func(string, error) P) how[P, []P] {
	return how[P, []P]{
		compile: func(data []byte) (P, error) { return decoded(data, compile) },
		refuse:  refuse,
		all:     func(all []P) []P { return all },
	}
}

// about are the policies that may match a request; nil when there are none.
func (b *bound[P]) about(ctx context.Context, a admission.Attributes) []policy.InForce[P] {
	if exempt(a) {
		return nil
	}
	bindings := b.bindings.now(ctx)
	if bindings == nil {
		return nil
	}
	policies := b.policies.now(ctx)
	j := b.current.Load()
	if j == nil || j.bindings != bindings || j.policies != policies {
		// Two writes may do the same here, and either result is as good.
		j = &joined[P]{policies, bindings, nil}
		var all []P
		if policies != nil {
			all = policies.all
		}
		j.set = policy.NewSet(all, bindings.all, b.refuse)
		b.current.Store(j)
	}
	return j.set.About(a)
}
