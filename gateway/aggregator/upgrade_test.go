package aggregator

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// oneService is all that is read for a request: a service that is localhost.
type oneService struct{ Objects }

func (oneService) Get(context.Context, schema.GroupResource, string, string) (*unstructured.Unstructured, error) {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "127.0.0.1"},
	})
	return &unstructured.Unstructured{Object: m}, err
}

// behind is who passes requests on to a server that the test has, which speaks HTTP/2.
func behind(t *testing.T, h http.HandlerFunc) *server {
	t.Helper()
	there := httptest.NewUnstartedServer(h)
	there.EnableHTTP2 = true
	there.StartTLS()
	t.Cleanup(there.Close)
	s := New(Config{Objects: oneService{}, Certificate: func() (*tls.Certificate, error) { return &tls.Certificate{}, nil }})
	a := &apiregistrationv1.APIService{}
	port := int32(there.Listener.Addr().(*net.TCPAddr).Port)
	a.Spec.Service, a.Spec.InsecureSkipTLSVerify = &apiregistrationv1.ServiceReference{Namespace: "default", Name: "s", Port: &port}, true
	b := s.server(a, schema.GroupVersion{Group: "g", Version: "v1"}, nil)
	b.available = true
	return b
}

// upgrade is a request for another protocol, with headers that name it.
func upgrade(h http.Header) *api.Call {
	return &api.Call{Request: &api.Request{Method: "GET", Path: "/apis/g/v1/things/a/talk", Query: "q=1", Head: head(h), Upgrade: true, ID: "id"}, User: &authn.User{Name: "bob"}}
}

var wanted = http.Header{
	"Connection": {"keep-alive, Upgrade"}, "Upgrade": {"SPDY/3.1", "words"}, "Authorization": {"Bearer secret"}, "X-Remote-User": {"root"},
	"Sec-Websocket-Protocol": {"base64url.bearer.authorization.k8s.io.c2VjcmV0, a", "b"}, "X-Stream-Protocol-Version": {"v4", "v5"},
}

// sink has what is flushed, until it is told to be gone.
type sink struct {
	out  io.Writer
	text strings.Builder
	hold func() bool
}

func (s *sink) Write(p []byte) (int, error) { return s.text.Write(p) }
func (s *sink) Frame(_, _ []byte, _ string) {}
func (s *sink) Hold(keep func() bool)       { s.hold = keep }
func (s *sink) Flush() (err error) {
	_, err = io.WriteString(s.out, s.text.String())
	s.text.Reset()
	return err
}

// The request says which protocols are wanted, in the name of the user and without any
// credentials; the reply's head is the server's, and then bytes go both ways until the
// server closes.
func TestUpgradesArePassedOn(t *testing.T) {
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		for name, want := range map[string][]string{
			"Connection": {"Upgrade"}, "Upgrade": {"SPDY/3.1", "words"}, "Authorization": nil, "X-Remote-User": {"bob"},
			"Sec-Websocket-Protocol": {"a, b"}, "X-Stream-Protocol-Version": {"v4", "v5"},
		} {
			if got := r.Header[name]; !reflect.DeepEqual(got, want) || r.URL.String() != "/apis/g/v1/things/a/talk?q=1" {
				t.Errorf("%s %s: %q", r.URL, name, got)
			}
		}
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: words\r\nConnection: Upgrade\r\nAudit-Id: theirs\r\nX-More: 1\r\nX-More: 2\r\n\r\nhello ")
		line, _ := buf.ReadString('\n')
		_, _ = io.WriteString(conn, "you said "+line)
	})
	resp := b.Serve(t.Context(), upgrade(wanted))
	want := []reply.Header{{Name: "Connection", Value: "Upgrade"}, {Name: "Upgrade", Value: "words"}, {Name: "X-More", Value: "1"}, {Name: "X-More", Value: "2"}}
	if resp.Code != 101 || resp.Takes == nil || !reflect.DeepEqual(resp.Headers, want) {
		t.Fatalf("%d %v %s", resp.Code, resp.Headers, resp.Body)
	}
	if _, err := io.WriteString(resp.Takes, "words\n"); err != nil {
		t.Error(err)
	}
	var got strings.Builder
	client := &sink{out: &got}
	resp.Stream(t.Context(), client)
	if client.hold == nil || !client.hold() {
		t.Error("a client that takes nothing is given up")
	}
	if got.String() != "hello you said words\n" {
		t.Errorf("%q", got.String())
	}
	if _, err := resp.Takes.Write([]byte("x")); err == nil {
		t.Error("the connection is still open")
	}
}

// Who leaves, as the stream's context ends, closes the connection to the server.
func TestUpgradesEndWithTheClient(t *testing.T) {
	ended := make(chan error, 1)
	b := behind(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: words\r\nConnection: Upgrade\r\n\r\nready\n")
		_, err = buf.ReadByte()
		ended <- err
	})
	resp := b.Serve(t.Context(), upgrade(wanted))
	from, to := io.Pipe()
	ctx, leave := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		resp.Stream(ctx, &sink{out: to})
	}()
	if line, err := bufio.NewReader(from).ReadString('\n'); line != "ready\n" || err != nil {
		t.Errorf("%q %v", line, err)
	}
	leave()
	<-over
	if err := <-ended; err == nil {
		t.Error("the server heard something")
	}
}

// Refusals are the server's; what is neither a refusal nor another protocol is a broken
// word, and so is another protocol that nobody wanted.
func TestUpgradesThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		upgrade bool
		code    int
		body    string
	}{
		"refused":        {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such words", http.StatusForbidden) }, true, 403, "no such words\n"},
		"not understood": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "what?", http.StatusBadRequest) }, true, 400, "what?\n"},
		"ignored":        {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, true, 503, "invalid upgrade response: status code 200\n"},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://example.com/", http.StatusFound)
		}, true, 503, "invalid upgrade response: status code 302\n"},
		"broken": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, 503, "EOF\n"},
		"not wanted": {func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: words\r\nConnection: Upgrade\r\n\r\n")
				_ = conn.Close()
			}
		}, false, 503, "invalid upgrade response: status code 101\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := behind(t, c.handler)
			call := upgrade(wanted)
			if call.Upgrade = c.upgrade; !c.upgrade {
				b.transport = b.upgrades // which could
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("no answer"))
			defer cancel()
			resp := b.Serve(ctx, call)
			body := resp.Body
			if resp.Reader != nil {
				body, _ = io.ReadAll(resp.Reader)
			}
			if resp.Code != c.code || string(body) != c.body || resp.Takes != nil {
				t.Errorf("%d %q", resp.Code, body)
			}
		})
	}
}

// A server that sends more of a stream than its client takes has to wait: what is held
// for a client that is parked is bounded.
func TestWhatIsSentAheadIsBounded(t *testing.T) {
	var sent atomic.Int64
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		for piece := make([]byte, 16<<10); r.Context().Err() == nil && sent.Load() < 16<<20; w.(http.Flusher).Flush() {
			n, _ := w.Write(piece)
			sent.Add(int64(n))
		}
	})
	resp := b.Serve(t.Context(), &api.Call{Request: &api.Request{Method: "GET", Path: "/", Head: head{}}, User: &authn.User{Name: "bob"}, Info: api.Info{Verb: "watch", Resource: true}})
	from, to := io.Pipe()
	ctx, leave := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		resp.Stream(ctx, &sink{out: to})
	}()
	for before, still := int64(-1), 0; still < 20; { // the server has come to rest
		now := sent.Load()
		if still++; now != before || now == 0 {
			before, still = now, 0
		}
		<-time.After(10 * time.Millisecond)
	}
	if n := sent.Load(); n > 2*mostAhead {
		t.Errorf("%d bytes were sent ahead", n)
	}
	leave()
	_ = from.Close()
	<-over
}
