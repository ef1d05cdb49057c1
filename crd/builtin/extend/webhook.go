package extend

import (
	"reflect"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type (
	validatingConfiguration = admissionv1.ValidatingWebhookConfiguration
	mutatingConfiguration   = admissionv1.MutatingWebhookConfiguration
	mutatingWebhook         = admissionv1.MutatingWebhook
)

// validatingHooks reads a configuration as what is checked of both kinds.
func validatingHooks(c *validatingConfiguration) webhooks {
	hooks := make([]mutatingWebhook, len(c.Webhooks))
	for i, h := range c.Webhooks {
		hooks[i] = mutatingWebhook{
			Name: h.Name, ClientConfig: h.ClientConfig, Rules: h.Rules, FailurePolicy: h.FailurePolicy, MatchPolicy: h.MatchPolicy,
			NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector, SideEffects: h.SideEffects,
			TimeoutSeconds: h.TimeoutSeconds, AdmissionReviewVersions: h.AdmissionReviewVersions, MatchConditions: h.MatchConditions,
		}
	}
	return webhooks{&c.ObjectMeta, hooks}
}

func mutatingHooks(c *mutatingConfiguration) webhooks { return webhooks{&c.ObjectMeta, c.Webhooks} }

// webhooks is a configuration of either kind. What a validating webhook lacks
// is nil, which is valid.
type webhooks struct {
	meta  *metav1.ObjectMeta
	hooks []mutatingWebhook
}

// webhookCheck is the check of a kind of configurations, read by a function.
func webhookCheck[T any](read func(*T) webhooks) func(string, *T, *T) field.ErrorList {
	return func(_ string, c, old *T) field.ErrorList {
		now := read(c)
		if old == nil {
			return now.validate(allowances{})
		}
		return now.validate(read(old).allowed(now))
	}
}

// allowances are what a configuration may have because it had it before it was
// forbidden.
type allowances struct {
	sideEffects, unknownReviews, repeatedNames, badSelectors bool
	// sameConditions: the conditions are those that were there.
	sameConditions bool
	// expressions that were stored before.
	expressions []string
}

// allowed is what the next state of w may have.
func (w webhooks) allowed(next webhooks) allowances {
	a := allowances{sameConditions: len(w.hooks) == len(next.hooks)}
	names := map[string]bool{}
	for i, h := range w.hooks {
		a.sideEffects = a.sideEffects || h.SideEffects == nil || !slices.Contains(harmless, string(*h.SideEffects))
		a.unknownReviews = a.unknownReviews || len(h.AdmissionReviewVersions) > 0 && !slices.ContainsFunc(h.AdmissionReviewVersions, knownReview)
		a.repeatedNames = a.repeatedNames || names[h.Name]
		a.badSelectors = a.badSelectors || len(validateSelectors(&h, false, nil)) > 0
		names[h.Name] = true
		if a.sameConditions {
			a.sameConditions = reflect.DeepEqual(next.hooks[i].MatchConditions, h.MatchConditions)
		}
		for _, c := range h.MatchConditions {
			a.expressions = append(a.expressions, c.Expression)
		}
	}
	return a
}
