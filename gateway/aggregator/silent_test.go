package aggregator

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// pipes is a network in memory, on which nothing arrives any more once it is cut.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
	close  func()
	cut    chan struct{}
}

func newPipes() *pipes {
	p := &pipes{made: make(chan net.Conn, 1), closed: make(chan struct{}), cut: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.made <- there
	return &pipe{here, p.cut}, nil
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) Close() error {
	p.close()
	return nil
}

type pipe struct {
	net.Conn
	cut chan struct{}
}

func (p *pipe) isCut() bool {
	select {
	case <-p.cut:
		return true
	default:
		return false
	}
}

func (p *pipe) Write(b []byte) (int, error) {
	if p.isCut() {
		return len(b), nil
	}
	return p.Conn.Write(b)
}

func (p *pipe) Read(b []byte) (int, error) {
	for {
		if n, err := p.Conn.Read(b); err != nil || !p.isCut() {
			return n, err
		}
	}
}

// Who does not even answer pings is gone, and with it what was asked of it.
func TestSilentServersAreGone(t *testing.T) {
	certificate := httptest.NewUnstartedServer(nil)
	certificate.EnableHTTP2 = true
	certificate.StartTLS()
	certificate.Close()
	synctest.Test(t, func(t *testing.T) {
		a := &apiregistrationv1.APIService{}
		port := int32(443)
		a.Spec.Service, a.Spec.InsecureSkipTLSVerify = &apiregistrationv1.ServiceReference{Namespace: "default", Name: "s", Port: &port}, true
		b := New(Config{Objects: oneService{}, Certificate: func() (*tls.Certificate, error) { return &tls.Certificate{}, nil }}).server(a, schema.GroupVersion{Group: "g", Version: "v1"}, nil)
		b.available = true
		l := newPipes()
		b.transport.DialContext = l.dial
		there := &http.Server{TLSConfig: certificate.TLS.Clone(), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})}
		go func() { _ = there.ServeTLS(l, "", "") }()
		c := asked("/apis/g/v1/things")
		c.Info = api.Info{Verb: "watch", Resource: true}
		resp := b.Serve(t.Context(), c)
		if resp.Stream == nil {
			t.Fatalf("%d %s", resp.Code, resp.Body)
		}
		close(l.cut)
		at := time.Now()
		resp.Stream(t.Context(), &sink{out: io.Discard})
		if took := time.Since(at); took > time.Minute {
			t.Errorf("the watch lasted %s", took)
		}
		_ = there.Close()
	})
}
