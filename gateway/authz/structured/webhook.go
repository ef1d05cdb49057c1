package structured

import (
	"context"
	"fmt"
	"net/http"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook"
	webhookmetrics "k8s.io/apiserver/plugin/pkg/authorizer/webhook/metrics"
	"k8s.io/client-go/rest"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	webhookclient "github.com/wasmgate/wasmgate/webhook"
)

// backoff is how often a server is asked that does not answer, as kube-apiserver has it.
var backoff = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5}

// counts are those of kube-apiserver.
type counts struct {
	webhookmetrics.NoopRequestMetrics
	webhookmetrics.WebhookMetrics
	authorizationcel.MatcherMetrics
}

// asks asks a server.
type asks struct{ *webhook.WebhookAuthorizer }

func newWebhook(a apiserver.AuthorizerConfiguration, compiler authorizationcel.Compiler) (asks, error) {
	w := a.Webhook
	client, err := connection(w.ConnectionInfo)
	if err != nil {
		return asks{}, fmt.Errorf("authorizer %s: %w", a.Name, err)
	}
	client.Wrap(func(by http.RoundTripper) http.RoundTripper {
		return webhookclient.Unmoved(webhookclient.Bounded(by, webhookclient.MaxAnswerBytes))
	})
	if w.Timeout.Duration != 0 {
		client.Timeout = w.Timeout.Duration
	}
	onError := authorizer.DecisionDeny
	if w.FailurePolicy == apiserver.FailurePolicyNoOpinion {
		onError = authorizer.DecisionNoOpinion
	}
	allowed, refused := w.AuthorizedTTL.Duration, w.UnauthorizedTTL.Duration
	if !w.CacheAuthorizedRequests {
		allowed = 0
	}
	if !w.CacheUnauthorizedRequests {
		refused = 0
	}
	made, err := webhook.New(client, w.SubjectAccessReviewVersion, allowed, refused, backoff, onError, w.MatchConditions, a.Name,
		counts{WebhookMetrics: webhookmetrics.NewWebhookMetrics(), MatcherMetrics: authorizationcel.NewMatcherMetrics()}, compiler)
	return asks{made}, err
}

func connection(info apiserver.WebhookConnectionInfo) (*rest.Config, error) {
	if info.Type != apiserver.AuthorizationWebhookConnectionInfoTypeInCluster {
		return webhookutil.LoadKubeconfig(*info.KubeConfigFile, nil)
	}
	c, err := rest.InClusterConfig()
	if err == nil {
		c.APIPath, c.QPS = "/apis/authorization.k8s.io/v1/subjectaccessreviews", -1
	}
	return c, err
}

// Judge implements judge.
func (w asks) Judge(ctx context.Context, a authz.Attributes) (authz.Decision, string, error) {
	narrowed := a.Narrowed()
	record := authorizer.AttributesRecord{
		Verb: a.Verb, Namespace: a.Namespace, APIGroup: a.Group, APIVersion: a.Version, Resource: a.Resource, Subresource: a.Subresource, Name: a.Name,
		ResourceRequest: a.ResourceRequest, Path: a.Path,
		FieldSelectorRequirements: narrowed.Fields, FieldSelectorParsingErr: narrowed.FieldsErr,
		LabelSelectorRequirements: narrowed.Labels, LabelSelectorParsingErr: narrowed.LabelsErr,
	}
	if a.User != nil {
		record.User = a.User
	}
	decision, reason, err := w.Authorize(ctx, record)
	err = excerpt.RedactedError(err) // clients are told
	switch decision {
	case authorizer.DecisionAllow:
		return authz.Allow, reason, err
	case authorizer.DecisionDeny:
		return authz.Deny, reason, err
	}
	return authz.NoOpinion, reason, err
}

// Rules implements [authz.Lister]: nobody knows them.
func (asks) Rules(*authn.User, string) ([]rbacv1.PolicyRule, error) {
	return nil, fmt.Errorf("webhook authorizer does not support user rule resolution%w", authz.ErrIncomplete)
}
