package extend

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"

	"github.com/wasmgate/wasmgate/crd/object"
)

// olderMutatingWebhooks are those of admissionregistration.k8s.io/v1beta1 at v1.
func olderMutatingWebhooks(in *admissionv1beta1.MutatingWebhookConfiguration) (*admissionv1.MutatingWebhookConfiguration, error) {
	return remade[admissionv1.MutatingWebhookConfiguration](in, fillWebhooks)
}

// olderValidatingWebhooks are those of admissionregistration.k8s.io/v1beta1 at v1.
func olderValidatingWebhooks(in *admissionv1beta1.ValidatingWebhookConfiguration) (*admissionv1.ValidatingWebhookConfiguration, error) {
	return remade[admissionv1.ValidatingWebhookConfiguration](in, fillWebhooks)
}

func fillWebhooks(tree map[string]any) {
	for _, webhook := range object.Objects(tree["webhooks"]) {
		defaults{
			"failurePolicy": string(admissionv1.Ignore), "matchPolicy": string(admissionv1.Exact), "timeoutSeconds": int64(30),
			"sideEffects": string(admissionv1.SideEffectClassUnknown), "admissionReviewVersions": []any{"v1beta1"},
		}.fill(webhook)
	}
}
