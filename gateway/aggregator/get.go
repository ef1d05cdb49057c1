package aggregator

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/transport"
)

// maxDocument bounds what a server may say of itself, in bytes, and maxUnread what is
// taken of an answer that nobody reads, so that its connection can be used again.
const (
	maxDocument = 16 << 20
	maxUnread   = 64 << 10
)

// question is what a server is asked for, and by whom.
type question struct {
	path, accept, etag string
	user               string
	groups             []string
	// unread: only whether there is an answer matters.
	unread bool
}

// answer is what a server said, at a URL.
type answer struct {
	at   string
	code int
	head http.Header
	body []byte
}

// get asks a server for a document, as the gateway itself.
func (b *server) get(ctx context.Context, path, accept string) (body []byte, head http.Header, err error) {
	a, err := b.good(ctx, question{path: path, accept: accept})
	if err != nil {
		return nil, nil, err
	}
	return a.body, a.head, nil
}

// answers asks a server whether it has a document.
func (b *server) answers(ctx context.Context, path string) error {
	_, err := b.good(ctx, question{path: path, unread: true})
	return err
}

// good asks a question as the gateway itself, for which only a good answer counts.
func (b *server) good(ctx context.Context, q question) (*answer, error) {
	q.user, q.groups = "system:kube-aggregator", []string{"system:masters"}
	a, err := b.send(ctx, q)
	if err == nil && (a.code < http.StatusOK || a.code >= http.StatusMultipleChoices) {
		err = a.bad()
	}
	return a, err
}

// bad is the error of an answer whose code says that it is none.
func (a *answer) bad() error {
	return fmt.Errorf("failing or missing response from %s: bad status from %s: %d", a.at, a.at, a.code)
}

// send asks a server, whatever that answers.
func (b *server) send(ctx context.Context, q question) (*answer, error) {
	if b.unusable != nil {
		return nil, b.unusable
	}
	host, err := b.of.resolve(ctx, b.spec.Service)
	if err != nil {
		return nil, err
	}
	at := "https://" + host + q.path
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Accept": q.accept, "If-None-Match": q.etag} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	b.of.passing(r.Header)
	transport.SetAuthProxyHeaders(r, q.user, "", q.groups, nil)
	resp, err := b.transport.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("failing or missing response from %s: Get %q: %w", at, at, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	if q.unread {
		_, _ = io.CopyN(io.Discard, resp.Body, maxUnread)
		return &answer{at: at, code: resp.StatusCode}, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("failing or missing response from %s: %w", at, err)
	case len(body) > maxDocument:
		return nil, fmt.Errorf("the response from %s is larger than %d bytes", at, maxDocument)
	}
	return &answer{at, resp.StatusCode, resp.Header, body}, nil
}
