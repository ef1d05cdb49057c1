package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/excerpt"
)

// Config describes one server.
type Config struct {
	// URL is where the server is, if Service is nil.
	URL string
	// Service is the service that the server is, if not nil.
	Service *Service
	// CABundle are PEM certificates that the server is trusted by; empty means
	// the system's.
	CABundle []byte
	// Services finds the address of a service; nil means [DNS].
	Services ServiceResolver
	// Timeout bounds one call beside its context; 0 means that the context
	// alone does.
	Timeout time.Duration
	// MaxReplyBytes is the largest reply that is read; 0 means 32 MiB.
	MaxReplyBytes int64
	// UserAgent is what the server is told of the caller.
	UserAgent string
	// Wrap, if not nil, has requests say who sends them.
	Wrap func(http.RoundTripper) http.RoundTripper
	// Certificate, if not nil, returns what the server is shown as a client certificate.
	Certificate func() (*tls.Certificate, error)
}

// MaxReplyBytes is the largest reply that is read unless a [Config] says
// otherwise.
const MaxReplyBytes = 32 << 20

// maxMessage is the most bytes of a server's message that are repeated.
const maxMessage = 4 << 10

// Client calls one server. It is safe for concurrent use.
type Client struct {
	url       url.URL
	client    *http.Client
	transport *http.Transport // of client, below what Wrap adds
	maxReply  int64
	userAgent string
}

// New checks the configuration. It makes no connection.
func New(c Config) (*Client, error) {
	if c.MaxReplyBytes <= 0 {
		c.MaxReplyBytes = MaxReplyBytes
	}
	if c.Services == nil {
		c.Services = DNS{}
	}
	at, err := locate(c)
	if err != nil {
		return nil, err
	}
	transport, err := newTransport(at, c.CABundle, c.Services)
	if err != nil {
		return nil, err
	}
	if c.Certificate != nil {
		transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.Certificate() }
	}
	var by http.RoundTripper = transport
	if c.Wrap != nil {
		by = c.Wrap(by)
	}
	return &Client{
		url: *at.url, maxReply: c.MaxReplyBytes, userAgent: c.UserAgent, transport: transport,
		client: &http.Client{
			Transport:     by,
			Timeout:       c.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Close closes idle connections; calls that are under way end by themselves.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// maxTries bounds how often a server is asked that says when to ask again, as client-go
// does.
const maxTries = 11

// Post sends body and returns the reply, which is the caller's. The server is
// told how long it has, as kube-apiserver does. One that is busy, and says when it will not
// be, is asked again while there is time. An error that the server
// replied with is a *apierrors.StatusError.
func (c *Client) Post(ctx context.Context, body []byte) (reply []byte, err error) {
	begun := time.Now()
	for try := 1; ; try++ {
		var again time.Duration
		if reply, again, err = c.post(ctx, body); again < 0 || try == maxTries || !c.left(ctx, begun, again) {
			return reply, err
		}
		timer := time.NewTimer(again)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}

// left tells whether there is time for more, after a pause.
func (c *Client) left(ctx context.Context, begun time.Time, pause time.Duration) bool {
	if c.client.Timeout > 0 && time.Since(begun)+pause >= c.client.Timeout {
		return false
	}
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > pause)
}

// post asks once; again is when to ask again, below zero for never.
func (c *Client) post(ctx context.Context, body []byte) (_ []byte, again time.Duration, _ error) {
	u := c.url
	if t := c.timeout(ctx); t > 0 {
		u.RawQuery = url.Values{"timeout": {t.String()}}.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, -1, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, */*")
	req.Header.Set("User-Agent", c.userAgent)
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, -1, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, c.maxReply+1))
	switch {
	case err != nil:
		return nil, -1, fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
	case int64(len(reply)) > c.maxReply:
		return nil, -1, fmt.Errorf("the reply is larger than %d bytes", c.maxReply)
	case resp.StatusCode < http.StatusOK || resp.StatusCode > http.StatusPartialContent:
		return nil, retryAfter(resp), statusError(resp.StatusCode, resp.Header.Get("Content-Type"), reply)
	case len(reply) == 0:
		// The type of a successful reply is not looked at: the usual webhook
		// frameworks do not set it, so that it arrives as text/plain.
		return nil, -1, fmt.Errorf("0-length response with status code: %d and content type: application/json", resp.StatusCode)
	}
	return reply, -1, nil
}

// retryAfter is when a server that is busy wants to be asked again, below zero for never.
func retryAfter(resp *http.Response) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
		return -1
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > 3600 {
		return -1
	}
	return time.Duration(seconds) * time.Second
}

// timeout is how long the server is told that it has: what the client allows,
// else what is left to ctx, in whole seconds; 0 for no limit.
func (c *Client) timeout(ctx context.Context) time.Duration {
	if c.client.Timeout > 0 {
		return c.client.Timeout
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	left := time.Until(deadline)
	if whole := left.Truncate(time.Second); whole != left {
		left = whole + time.Second
	}
	return max(left, 0)
}

// statusError words a reply with another code than 200 as client-go does: a
// Status in the body speaks for itself.
func statusError(code int, contentType string, body []byte) error {
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && status.Kind == "Status" && status.Status != metav1.StatusSuccess {
		status.Message = excerpt.Of(status.Message, maxMessage)
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
