package admitting

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// bound is the policies of one kind that are in force: policies joined with
// their bindings, whenever either changes.
type bound[P policy.Compiled] struct {
	policies *source[P, []P]
	bindings *source[*policy.Binding, []*policy.Binding]
	refuse   func(name string, cause error) P
	// fixed are those of the folder.
	fixed   *fixed[*policy.Set[P]]
	current atomic.Pointer[joined[P]]
}

// joined is what was made of one state of both.
type joined[P policy.Compiled] struct {
	policies *compiled[P, []P]
	bindings *compiled[*policy.Binding, []*policy.Binding]
	set      *policy.Set[P]
}

func boundValidations(c *catalog.Catalog, folder *guards.Folder, log zerolog.Logger) *bound[*policy.Validation] {
	bindings := howPolicies(func(b *admissionv1.ValidatingAdmissionPolicyBinding) *policy.Binding { return policy.Validating(b) }, policy.UnreadableBinding)
	return newBound(c, folder, log, "ValidatingAdmissionPolicy", "validatingadmissionpolicies", howPolicies(policy.NewValidation, policy.UnreadableValidation), bindings)
}

func boundMutations(c *catalog.Catalog, folder *guards.Folder, log zerolog.Logger) *bound[*policy.Mutation] {
	bindings := howPolicies(func(b *admissionv1.MutatingAdmissionPolicyBinding) *policy.Binding { return policy.Mutating(b) }, policy.UnreadableBinding)
	return newBound(c, folder, log, "MutatingAdmissionPolicy", "mutatingadmissionpolicies", howPolicies(policy.NewMutation, policy.UnreadableMutation), bindings)
}

// newBound makes the policies of a kind, which plural names, and their bindings.
func newBound[P policy.Compiled](c *catalog.Catalog, folder *guards.Folder, log zerolog.Logger, kind, plural string, policies how[P, []P], bindings how[*policy.Binding, []*policy.Binding]) *bound[P] {
	return &bound[P]{
		policies: newSource(c, plural, log, policies),
		bindings: newSource(c, strings.ToLower(kind)+"bindings", log, bindings),
		refuse:   policies.refuse,
		fixed:    fixedPolicies(folder, kind, policies, bindings),
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
	if isReview(a) {
		return nil
	}
	return both(b.fixed.now(), a, isPolicy(a), func() []policy.InForce[P] { return b.stored(ctx, a) })
}

// stored are those of the API.
func (b *bound[P]) stored(ctx context.Context, a admission.Attributes) []policy.InForce[P] {
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
		j.set = policy.NewSet(all, bindings.all, nil, b.refuse)
		b.current.Store(j)
	}
	return j.set.About(a)
}
