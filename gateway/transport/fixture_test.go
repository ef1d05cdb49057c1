package transport

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// patience bounds every wait in these tests; nothing comes near it.
const patience = 20 * time.Second

// handlerFunc serves requests whose body was read, up to bodyLimit.
type handlerFunc func(*api.Request) *reply.Response

// bodyLimit is the largest body in these tests, but for /large.
const bodyLimit = 1 << 20

func (f handlerFunc) Serve(r *api.Request) *reply.Response {
	if r.ReadBody != nil {
		limit := bodyLimit
		if r.Path == "/large" {
			limit *= 4
		}
		body, err := r.ReadBody(limit)
		if err != nil {
			return refusal(err)
		}
		r.Body, r.ReadBody = body, nil
	}
	return f(r)
}

func refusal(err error) *reply.Response {
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		return reply.Failure(http.StatusInternalServerError, "not a status: "+err.Error())
	}
	return reply.Failure(int(s.Status().Code), s.Status().Message)
}

// unread serves requests and leaves their bodies where they are.
type unread func(*api.Request) *reply.Response

func (f unread) Serve(r *api.Request) *reply.Response { return f(r) }

// running is a server on a port of its own.
type running struct {
	t      testing.TB
	server *Server
	url    string
	addr   string
	client *http.Client
	tls    *tls.Config // the client's
}

// run serves handler until the test ends, and then sees that nothing is left.
func run(t testing.TB, handler handlerFunc, change ...func(*Options)) *running {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return runOn(t, l, handler, change...)
}

// piece is so much memory for bodies.
type piece struct {
	limit int64
	used  atomic.Int64
}

func (p *piece) Take(n int) bool {
	if p.used.Add(int64(n)) <= p.limit {
		return true
	}
	p.Give(n)
	return false
}

func (p *piece) Give(n int) { p.used.Add(-int64(n)) }
func (p *piece) Most() int  { return int(p.limit) }

// runOn is run on a listener of the test's.
func runOn(t testing.TB, l net.Listener, handler handlerFunc, change ...func(*Options)) *running {
	t.Helper()
	lender := httptest.NewTLSServer(http.NotFoundHandler()) // has a certificate and a client that trusts it
	lender.Close()
	o := Options{
		Handler: handler, Bodies: &piece{limit: 64 << 20}, Log: zerolog.Nop(),
		TLS: &tls.Config{Certificates: lender.TLS.Certificates, NextProtos: []string{"http/1.1"}},
	}
	for _, c := range change {
		c(&o)
	}
	s := New(o)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	r := &running{t: t, server: s, addr: l.Addr().String(), client: lender.Client()}
	r.url = "https://" + r.addr
	transport := r.client.Transport.(*http.Transport)
	r.tls = transport.TLSClientConfig.Clone()
	r.tls.ServerName = "example.com"
	transport.DialContext = nil // the lender's goes elsewhere
	transport.DialTLSContext = nil
	r.client.Timeout = patience
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if all := stacks(); strings.Contains(all, "untilGone") {
			t.Errorf("a reader was left behind:\n%s", all)
		}
	})
	return r
}

func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}

// do sends a request and returns the reply with its body read.
func (r *running) do(method, path string, body io.Reader, header http.Header) (*http.Response, []byte) {
	r.t.Helper()
	resp, data, err := r.try(method, path, body, header)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp, data
}

func (r *running) try(method, path string, body io.Reader, header http.Header) (*http.Response, []byte, error) {
	req, err := http.NewRequest(method, r.url+path, body)
	if err != nil {
		return nil, nil, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp, data, err
}

// dial opens a connection for bytes that no HTTP client would send.
func (r *running) dial() *tls.Conn {
	r.t.Helper()
	c, err := tls.Dial("tcp", r.addr, r.tls)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// raw sends bytes and returns all replies until the server closes.
func (r *running) raw(request string) []*http.Response {
	r.t.Helper()
	c := r.dial()
	if _, err := io.WriteString(c, request); err != nil {
		r.t.Fatal(err)
	}
	var out []*http.Response
	method, _, _ := strings.Cut(request, " ")
	for in := bufio.NewReader(c); ; {
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return out
		}
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			r.t.Fatal(err)
		}
		resp.Body = io.NopCloser(bytes.NewReader(data))
		out = append(out, resp)
	}
}

// within fails the test when done does not happen.
func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s did not happen\n%s", what, stacks())
	}
}

func ok(body string) *reply.Response {
	return &reply.Response{Code: http.StatusOK, ContentType: "application/json", Body: []byte(body)}
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// plain is a connection without TLS on which begin was sent. The test closes it.
func (r *running) plain(t testing.TB, begin string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, begin); err != nil {
		t.Fatal(err)
	}
	return c
}
