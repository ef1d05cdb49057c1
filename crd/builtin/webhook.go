package builtin

import (
	"reflect"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

type (
	validatingConfiguration = admissionv1.ValidatingWebhookConfiguration
	mutatingConfiguration   = admissionv1.MutatingWebhookConfiguration
	mutatingWebhook         = admissionv1.MutatingWebhook
)

// extending is the category of what extends the API.
var extending = []string{"api-extensions"}

func validatingWebhooks() *crd.Definition {
	return webhookKind("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false, func(c *validatingConfiguration) webhooks {
		hooks := make([]mutatingWebhook, len(c.Webhooks))
		for i, h := range c.Webhooks {
			hooks[i] = mutatingWebhook{
				Name: h.Name, ClientConfig: h.ClientConfig, Rules: h.Rules, FailurePolicy: h.FailurePolicy, MatchPolicy: h.MatchPolicy,
				NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector, SideEffects: h.SideEffects,
				TimeoutSeconds: h.TimeoutSeconds, AdmissionReviewVersions: h.AdmissionReviewVersions, MatchConditions: h.MatchConditions,
			}
		}
		return webhooks{&c.ObjectMeta, hooks}
	})
}

func mutatingWebhooks() *crd.Definition {
	return webhookKind("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", true, func(c *mutatingConfiguration) webhooks {
		return webhooks{&c.ObjectMeta, c.Webhooks}
	})
}

// webhooks is a configuration of either kind. What a validating webhook lacks
// is nil, which is valid.
type webhooks struct {
	meta  *metav1.ObjectMeta
	hooks []mutatingWebhook
}

func webhookKind[T any, P goType[T]](name, plural string, mutating bool, read func(*T) webhooks) *crd.Definition {
	return define[T, P](kind[T]{
		group: admissionv1.GroupName, version: "v1", name: name, plural: plural,
		alike: []string{"v1beta1"}, categories: extending,
		defaults: func(obj map[string]any) { defaultWebhooks(obj, mutating) },
		rules: rules[T]{
			prepareCreate: func(obj map[string]any) { ensure(obj, "metadata")["generation"] = int64(1) },
			prepareUpdate: countWebhookChange,
			validate:      func(c *T) field.ErrorList { return read(c).validate(strictWebhooks) },
			validateUpdate: func(c, old *T) field.ErrorList {
				was, now := read(old), read(c)
				return now.validate(was.allowed(now))
			},
			warn: func(c, _ *T) []string { return warnStaticName(read(c).meta.Name) },
		},
		columns: []metav1.TableColumnDefinition{
			nameColumn,
			{Name: "Webhooks", Type: "integer", Description: "Webhooks indicates the number of webhooks registered in this configuration"},
			ageColumn,
		},
		cells: func(c *T) []any {
			w := read(c)
			return []any{w.meta.Name, int64(len(w.hooks)), since(w.meta.CreationTimestamp)}
		},
	})
}

// countWebhookChange makes the generation tell that the webhooks changed.
func countWebhookChange(obj, old map[string]any) {
	if before, _ := child(old, "metadata")["generation"].(int64); !reflect.DeepEqual(obj["webhooks"], old["webhooks"]) {
		ensure(obj, "metadata")["generation"] = before + 1
	}
}

// defaultWebhooks fills in what clients leave out.
func defaultWebhooks(obj map[string]any, mutating bool) {
	hooks, _ := obj["webhooks"].([]any)
	for _, h := range hooks {
		hook, ok := h.(map[string]any)
		if !ok {
			continue
		}
		byDefault(hook, "failurePolicy", string(admissionv1.Fail))
		byDefault(hook, "matchPolicy", string(admissionv1.Equivalent))
		byDefault(hook, "timeoutSeconds", int64(10))
		for _, name := range []string{"namespaceSelector", "objectSelector"} {
			ensure(hook, name)
		}
		if mutating {
			byDefault(hook, "reinvocationPolicy", string(admissionv1.NeverReinvocationPolicy))
		}
		if service := child(child(hook, "clientConfig"), "service"); service != nil {
			byDefault(service, "port", int64(443))
		}
		rules, _ := hook["rules"].([]any)
		for _, r := range rules {
			if rule, ok := r.(map[string]any); ok {
				byDefault(rule, "scope", string(admissionv1.AllScopes))
			}
		}
	}
}

func byDefault(obj map[string]any, name string, value any) {
	if obj[name] == nil {
		obj[name] = value
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

var strictWebhooks = allowances{}

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
