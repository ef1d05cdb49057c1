package audit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"

	webhookclient "github.com/wasmgate/wasmgate/webhook"
)

// Server is a sink that is a server: it gets lists of events.
type Server struct {
	// Kubeconfig is a file that says where it is, how it is known, and who the gateway
	// is to it.
	Kubeconfig string
	// Backoff is how long it takes until what failed is tried again, at first.
	Backoff time.Duration
	Passing
}

const (
	// callTimeout is how long a call may take, as in kube-apiserver.
	callTimeout = 30 * time.Second
	// tries is how often a list is sent, as in kube-apiserver.
	tries = 5
	// calls is how many are under way.
	calls = 4
)

// Look tells why the server cannot be called as the file says.
func (s *Server) Look() error {
	_, err := s.open()
	return err
}

func (s *Server) open() (sink, error) {
	config, err := webhook.LoadKubeconfig(s.Kubeconfig, nil)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(config.Host)
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" {
		return nil, fmt.Errorf("%s: cluster.server: %q is no URL of https or http", s.Kubeconfig, config.Host)
	}
	config.Timeout = callTimeout
	config.Wrap(webhookclient.Unmoved)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Kubeconfig, err)
	}
	return &server{client: client, url: at.String(), backoff: s.Backoff}, nil
}

// server is a server that is called.
type server struct {
	client  *http.Client
	url     string
	backoff time.Duration
}

func (*server) name() string { return "webhook" }

func (*server) parallel() int { return calls }

func (*server) encode(e *event) ([]byte, error) { return e.json() }

const (
	listHead = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[`
	listTail = "]}\n"
)

// list is a list of events on its way, which is put together while it is sent: as one text
// it would be in memory once more.
type list [][]byte

// length is how many bytes it has.
func (l list) length() int64 {
	n := len(listHead) + len(listTail) + len(l) - 1
	for _, e := range l {
		n += len(e)
	}
	return int64(n)
}

// open begins to read it, once more each time.
func (l list) open() (io.ReadCloser, error) {
	pieces := make([]io.Reader, 0, 2*len(l)+1)
	before := listHead
	for _, e := range l {
		pieces = append(pieces, strings.NewReader(before), bytes.NewReader(e))
		before = ","
	}
	return io.NopCloser(io.MultiReader(append(pieces, strings.NewReader(listTail))...)), nil
}

// send implements sink. Whatever fails is tried again: the server may be well by then.
func (s *server) send(ctx context.Context, events [][]byte) (sent int, err error) {
	b := wait.Backoff{Duration: s.backoff, Factor: 1.5, Jitter: 0.2, Steps: tries}
	for try := 1; ; try++ {
		if err = s.call(ctx, events); err == nil {
			return len(events), nil
		}
		if try == tries {
			return 0, err
		}
		timer := time.NewTimer(b.Step())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, err
		}
	}
}

// call sends a list once.
func (s *server) call(ctx context.Context, events list) error {
	body, err := events.open()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, body)
	if err != nil {
		return err
	}
	req.ContentLength, req.GetBody = events.length(), events.open
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, most)) // so that the connection can be used again
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	return nil
}

func (s *server) close() error {
	s.client.CloseIdleConnections()
	return nil
}
