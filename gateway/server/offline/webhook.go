package offline

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/conversion/review"
	"github.com/wasmgate/wasmgate/conversion/webhook"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/plugins"
)

// proved is what converts in a proof: a webhook that is asked, or a module that is loaded.
func proved(ctx context.Context, what workbench.Proof) (*running, error) {
	if what.Webhook == nil {
		return convertingSeen(ctx, what.Module, &seen{branches: &plugins.Branches{}})
	}
	w, err := webhook.New(webhook.Config{Conversion: &apiextensionsv1.WebhookConversion{
		ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &what.Webhook.URL, CABundle: what.Webhook.CA},
		ConversionReviewVersions: []string{review.V1},
	}})
	if err != nil {
		return nil, err
	}
	return &running{Converter: w, close: w.Close}, nil
}
