package structured

import (
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/token/cache"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/webhook"

	webhookclient "github.com/wasmgate/wasmgate/webhook"
)

// Webhook is a server that knows tokens.
type Webhook struct {
	// Path is that of a kubeconfig file which says where it is; "" is no webhook.
	Path string
	// Version is that of the TokenReviews that it is sent.
	Version string
	// CacheTTL is how long its answers count.
	CacheTTL time.Duration
}

// backoff is how often a server is asked that does not answer, as kube-apiserver has it.
var backoff = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5}

func (w Webhook) authenticator(audiences []string) (authenticator.Token, error) {
	client, err := webhookutil.LoadKubeconfig(w.Path, nil)
	if err != nil {
		return nil, err
	}
	client.Wrap(func(by http.RoundTripper) http.RoundTripper {
		return webhookclient.Unmoved(webhookclient.Bounded(by, webhookclient.MaxAnswerBytes))
	})
	asks, err := webhook.New(client, w.Version, audiences, backoff)
	if err != nil {
		return nil, err
	}
	return cache.New(asks, false, w.CacheTTL, w.CacheTTL), nil
}
