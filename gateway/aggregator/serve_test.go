package aggregator

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/wasmgate/wasmgate/gateway/pki"
)

// issued is a certificate for a service, and who trusts it.
func issued(t *testing.T, host string) (*tls.Certificate, []byte) {
	t.Helper()
	s, err := pki.SelfSigned(filepath.Join(t.TempDir(), "pki"), []string{host}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, s.Trust()
}

// A server proves that it is the service, to who its APIService trusts, and this one that
// it is itself. What is not there, or cannot be used, is told of.
func TestServersProveWhoTheyAre(t *testing.T) {
	theirs, trust := issued(t, "s.default.svc")
	ours, other := issued(t, "gateway")
	there := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 && r.TLS.PeerCertificates[0].Equal(ours.Leaf) {
			_, _ = io.WriteString(w, "it is you")
		}
	}))
	there.TLS = &tls.Config{Certificates: []tls.Certificate{*theirs}, ClientAuth: tls.RequestClientCert}
	there.Config.ErrorLog = log.New(io.Discard, "", 0) // which would have those that it is not trusted by
	there.StartTLS()
	t.Cleanup(there.Close)
	port := int32(there.Listener.Addr().(*net.TCPAddr).Port)
	s := New(Config{Objects: oneService{}, Certificate: func() (*tls.Certificate, error) { return ours, nil }})
	for name, test := range map[string]struct {
		service  string
		bundle   []byte
		insecure bool
		gone     bool
		objects  Objects
		code     int
		want     string
	}{
		"trusted":           {"s", trust, false, false, oneService{}, 200, "it is you"},
		"among others":      {"s", append(bytes.Clone(other), trust...), false, false, oneService{}, 200, "it is you"},
		"believed":          {"o", nil, true, false, oneService{}, 200, "it is you"},
		"another service":   {"o", trust, false, false, oneService{}, 503, "not o.default.svc"},
		"another authority": {"s", other, false, false, oneService{}, 503, "unknown authority"},
		"no authority":      {"s", nil, false, false, oneService{}, 503, "unknown authority"},
		"no certificates":   {"s", []byte("none"), false, false, oneService{}, 500, "unable to load root certificates"},
		"not available":     {"s", trust, false, true, oneService{}, 503, "service unavailable\n"},
		"not there":         {"none", trust, false, false, held{}, 503, "service unavailable\n"},
	} {
		a := &apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{Service: to("default", test.service, port), CABundle: test.bundle, InsecureSkipTLSVerify: test.insecure}}
		s.Objects = test.objects
		b := s.server(a, schema.GroupVersion{Group: "g", Version: "v1"}, nil)
		b.available = !test.gone
		resp := b.Serve(t.Context(), asked("/apis/g/v1/things"))
		body := resp.Body
		if resp.Reader != nil {
			body, _ = io.ReadAll(resp.Reader)
		}
		b.close()
		if resp.Code != test.code || !strings.Contains(string(body), test.want) {
			t.Errorf("%s: %d %q", name, resp.Code, body)
		}
	}
}

// A body that is there is sent as it is, and can be once more.
func TestBodiesAreSentAgain(t *testing.T) {
	b := behind(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, strings.Repeat(string(text), int(r.ContentLength)))
	})
	c := asked("/apis/g/v1/things")
	c.Method, c.Body = "POST", []byte("abc")
	resp := b.Serve(t.Context(), c)
	if got, err := io.ReadAll(resp.Reader); err != nil || string(got) != "abcabcabc" {
		t.Errorf("%q %v", got, err)
	}
	r := b.request(t.Context(), c, c.Head.Header(), "example:443")
	for range 2 {
		body, err := r.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(body); err != nil || string(got) != "abc" {
			t.Errorf("%q %v", got, err)
		}
	}
	if r := b.request(t.Context(), asked("/"), http.Header{}, "example:443"); r.Body != nil || r.ContentLength != 0 || r.GetBody != nil {
		t.Errorf("a body of %d bytes", r.ContentLength)
	}
}

// What went wrong with a body that is none of the API's errors is not told to the client,
// who broke off.
func TestBodiesThatBreakOff(t *testing.T) {
	b := behind(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	if resp := b.Serve(t.Context(), coming(iotest.ErrReader(errors.New("gone")), -1)); resp.Code != 503 {
		t.Errorf("%d %s", resp.Code, resp.Body)
	}
}

// leaving is a client that takes so many pieces.
type leaving struct {
	sink
	takes int
}

func (l *leaving) Flush() error {
	if l.takes--; l.takes < 0 {
		return io.ErrClosedPipe
	}
	return l.sink.Flush()
}

// Who left is sent nothing more.
func TestNothingIsSentToWhoLeft(t *testing.T) {
	for takes, want := range []string{"", "", "a", "ab", "abc", "abc"} {
		var got strings.Builder
		from := strings.NewReader("abc")
		err := stream(&leaving{sink{out: &got}, takes}, iotest.OneByteReader(from))
		if left := min(3, max(0, 3-takes)); got.String() != want || takes > 0 && from.Len() != left || err != nil {
			t.Errorf("takes %d: %q, and %d bytes are left, %v", takes, &got, from.Len(), err)
		}
	}
}

// An answer is good by its code, if it is whole and not too large.
func TestAnswersThatAreGood(t *testing.T) {
	for text, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na":                "",
		"HTTP/1.1 299 OK\r\nContent-Length: 1\r\n\r\na":                "",
		"HTTP/1.1 300 No\r\nContent-Length: 1\r\n\r\na":                "failing or missing response from https://127.0.0.1:",
		"HTTP/1.1 199 No\r\nContent-Length: 1\r\n\r\na":                "failing or missing response from https://127.0.0.1:",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na":                "unexpected EOF",
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(" ", maxDocument):   "",
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(" ", maxDocument+1): "is larger than 16777216 bytes",
	} {
		body, _, err := saying(t, text).get(t.Context(), "/", "")
		if err == nil && (want != "" || len(body) == 0) || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.50q: %d bytes, %v", text, len(body), err)
		}
	}
	s := New(Config{Objects: held{}})
	for want, b := range map[string]*server{"not now": {unusable: errUnread}, `services "none" not found`: {of: s, spec: apiregistrationv1.APIServiceSpec{Service: to("work", "none", 0)}}} {
		if _, err := b.send(context.Background(), question{path: "/"}); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
