package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/wasmgate/wasmgate/conversion/review"
)

// Config describes one webhook.
type Config struct {
	// Conversion is the webhook part of a CustomResourceDefinition's
	// conversion. It is not changed.
	Conversion *apiextensionsv1.WebhookConversion
	// Services finds the address of a service reference; nil means [DNS].
	Services ServiceResolver
	// Timeout bounds one call beside its context; 0 means 30 seconds.
	Timeout time.Duration
	// MaxReplyBytes is the largest reply that is read; 0 means 32 MiB.
	MaxReplyBytes int64
	// NewUID makes the uid of a request; nil means a random one.
	NewUID func() string
}

// Webhook calls one conversion webhook. It is safe for concurrent use.
type Webhook struct {
	url      string
	client   *http.Client
	version  string
	err      error
	maxReply int64
	newUID   func() string
	epoch    uint64
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
	if cfg.MaxReplyBytes <= 0 {
		cfg.MaxReplyBytes = 32 << 20
	}
	if cfg.NewUID == nil {
		cfg.NewUID = func() string { return string(uuid.NewUUID()) }
	}
	if cfg.Services == nil {
		cfg.Services = DNS{}
	}
	target, err := locate(cfg.Conversion.ClientConfig)
	if err != nil {
		return nil, err
	}
	transport, err := newTransport(target, cfg.Conversion.ClientConfig.CABundle, cfg.Services)
	if err != nil {
		return nil, err
	}
	// Servers are told how long they have, as upstream does.
	u := *target.url
	u.RawQuery = url.Values{"timeout": {cfg.Timeout.String()}}.Encode()
	w := &Webhook{
		url: u.String(),
		client: &http.Client{
			Transport:     transport,
			Timeout:       cfg.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		maxReply: cfg.MaxReplyBytes,
		newUID:   cfg.NewUID,
		epoch:    fingerprint(cfg.Conversion),
	}
	w.version, w.err = review.Choose(cfg.Conversion.ConversionReviewVersions)
	return w, nil
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
func (w *Webhook) Close() { w.client.CloseIdleConnections() }

// Convert sends one ConversionReview with all objects. The result is a part of
// the reply; conversion.Checked copies it.
func (w *Webhook) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	uid := w.newUID()
	body := make([]byte, 0, review.RequestSize(objects))
	body = review.AppendRequest(body, w.version, uid, desired, objects)
	reply, err := w.post(ctx, body)
	if err != nil {
		return nil, err
	}
	return review.ParseResponse(reply, w.version, uid)
}

func (w *Webhook) post(ctx context.Context, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, */*")
	req.Header.Set("User-Agent", "wasmgate-conversion")
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, w.maxReply+1))
	if err != nil {
		return nil, fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
	}
	if int64(len(reply)) > w.maxReply {
		return nil, fmt.Errorf("the reply is larger than %d bytes", w.maxReply)
	}
	contentType := resp.Header.Get("Content-Type")
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp.StatusCode, contentType, reply)
	}
	// The type of a successful reply is not looked at: the usual webhook
	// frameworks do not set it, so that it arrives as text/plain.
	if len(reply) == 0 {
		return nil, fmt.Errorf("0-length response with status code: %d and content type: application/json", resp.StatusCode)
	}
	return reply, nil
}

// statusError words a reply with another code than 200 as client-go does: a
// Status in the body speaks for itself.
func statusError(code int, contentType string, body []byte) error {
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && status.Kind == "Status" && status.Status != metav1.StatusSuccess {
		status.Message = review.Cut(review.MaxMessage, status.Message)
		return &apierrors.StatusError{ErrStatus: status}
	}
	message := "unknown"
	media, _, err := mime.ParseMediaType(contentType)
	if contentType == "" || err == nil && strings.HasPrefix(media, "text/") {
		const most = 2048
		message = strings.TrimSpace(string(body[:min(len(body), most)]))
	}
	return apierrors.NewGenericServerResponse(code, http.MethodPost, schema.GroupResource{}, "", message, 0, true)
}
