package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/wasmgate/wasmgate/conversion/review"
	"github.com/wasmgate/wasmgate/webhook"
)

// Config describes one webhook.
type Config struct {
	// Conversion is the webhook part of a CustomResourceDefinition's
	// conversion. It is not changed.
	Conversion *apiextensionsv1.WebhookConversion
	// Services finds the address of a service reference; nil means [webhook.DNS].
	Services webhook.ServiceResolver
	// Timeout bounds one call beside its context; 0 means 30 seconds.
	Timeout time.Duration
	// MaxReplyBytes is the largest reply that is read; 0 means 32 MiB.
	MaxReplyBytes int64
	// NewUID makes the uid of a request; nil means a random one.
	NewUID func() string
}

// Webhook calls one conversion webhook. It is safe for concurrent use.
type Webhook struct {
	client  *webhook.Client
	version string
	err     error
	newUID  func() string
	epoch   uint64
}

// New checks the configuration. It makes no connection. A configuration
// without a review version that is spoken here is accepted, since there are
// old objects that have none, and every call fails.
func New(cfg Config) (*Webhook, error) {
	if cfg.Conversion == nil || cfg.Conversion.ClientConfig == nil {
		return nil, errors.New("webhook configuration must have either service or URL")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.NewUID == nil {
		cfg.NewUID = func() string { return string(uuid.NewUUID()) }
	}
	client, err := webhook.New(server(cfg))
	if err != nil {
		return nil, err
	}
	w := &Webhook{client: client, newUID: cfg.NewUID, epoch: fingerprint(cfg.Conversion)}
	w.version, w.err = review.Choose(cfg.Conversion.ConversionReviewVersions)
	return w, nil
}

// server is where requests go.
func server(cfg Config) webhook.Config {
	c := cfg.Conversion.ClientConfig
	out := webhook.Config{
		CABundle: c.CABundle, Services: cfg.Services, Timeout: cfg.Timeout,
		MaxReplyBytes: cfg.MaxReplyBytes, UserAgent: "wasmgate-conversion",
	}
	if c.URL != nil {
		out.URL = *c.URL
	}
	if s := c.Service; s != nil {
		out.Service = webhook.ServiceOf(s.Namespace, s.Name, s.Path, s.Port)
	}
	return out
}

// fingerprint is the same for equal configurations.
func fingerprint(c *apiextensionsv1.WebhookConversion) uint64 {
	h := fnv.New64a()
	if err := json.NewEncoder(h).Encode(c); err != nil {
		return 1
	}
	return h.Sum64()
}

// Epoch is the same for equal configurations. A webhook that changes its mind
// behind the same address is not noticed.
func (w *Webhook) Epoch() uint64 { return w.epoch }

// Close closes idle connections; calls that are under way end by themselves.
func (w *Webhook) Close() { w.client.Close() }

// ReadsReplies implements [conversion.Reader].
func (*Webhook) ReadsReplies() {}

// Convert sends one ConversionReview with all objects. The result is a part of
// the reply; conversion.Checked copies it.
func (w *Webhook) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	uid := w.newUID()
	body := make([]byte, 0, review.RequestSize(objects))
	body = review.AppendRequest(body, w.version, uid, desired, objects)
	reply, err := w.client.Post(ctx, body)
	if err != nil {
		return nil, err
	}
	return review.ParseResponse(reply, w.version, uid)
}
