package webhook

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestWhereRequestsGo_CRD21_CRD22(t *testing.T) {
	for want, c := range map[string]Config{
		"https://svc.ns.svc:443/":          {Service: &Service{Namespace: "ns", Name: "svc"}},
		"https://svc.ns.svc:443/p":         {Service: &Service{Namespace: "ns", Name: "svc", Path: "/p"}},
		"https://svc.ns.svc:8443/":         {Service: &Service{Namespace: "ns", Name: "svc", Port: 8443}, URL: "https://other/"},
		"https://example.com:8443/convert": {URL: "https://example.com:8443/convert"},
	} {
		got, err := locate(c)
		if err != nil || got.url.String() != want || (got.service != nil) != (c.Service != nil) {
			t.Errorf("got %v, %v; want %s", got.url, err, want)
		}
	}
	for want, u := range map[string]string{
		"webhook configuration must have either service or URL":                                         "",
		`url "http://a/b": 'https' is the only allowed URL scheme; desired format: https://host[/path]`: "http://a/b",
		`url "https:///b": host must be specified; desired format: https://host[/path]`:                 "https:///b",
		"url: user information is not permitted in the URL":                                             "https://u@a/b",
		`url "https://a/b#c": fragments are not permitted in the URL`:                                   "https://a/b#c",
		`url "https://a/b?c=d": query parameters are not permitted in the URL`:                          "https://a/b?c=d",
		`url must be a valid URL: parse "https://a:b:c": invalid port ":b:c" after host`:                "https://a:b:c",
	} {
		if _, err := New(Config{URL: u}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// What kube-apiserver 1.36.3 asked a server for, by the path of the url; the
// paths of services take the same way there.
func TestPathsAreCleanedOnce_CRD21_CRD22(t *testing.T) {
	for in, want := range map[string]string{
		"": "/", "/": "/", "//p": "/p", "/b/": "/b", "/c/../d": "/d", "/e//f": "/e/f", "/../../x": "/x", "/.": "/", "/a/.": "/a",
		"/a%2Fb": "/a/b", "/a%20b": "/a%20b", "/%2e%2e/x": "/x", "/x?": "/x", "/a;b": "/a;b", "/ä": "/%C3%A4", "/a+b": "/a+b", "/a%3Fb": "/a%3Fb", "/a%25b": "/a%25b",
		"/%252e%252e/x": "/%252e%252e/x",
	} {
		var asked string
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked = r.RequestURI
			_, _ = w.Write([]byte("{}"))
		})
		c.URL = strings.TrimSuffix(c.URL, "/path") + in
		if _, err := open(t, c).Post(t.Context(), nil); err != nil || asked != want {
			t.Errorf("%q: asked for %q, %v; want %q", in, asked, err, want)
		}
	}
	for in, want := range map[string]string{"//p": "/p", "/b/": "/b", "/c/../d": "/d", "/a%2Fb": "/a%252Fb", "b": "/b"} {
		at, err := locate(Config{Service: &Service{Namespace: "ns", Name: "svc", Path: in}})
		if err != nil || at.url.RequestURI() != want {
			t.Errorf("service's path %q: asked for %q, %v; want %q", in, at.url.RequestURI(), err, want)
		}
	}
}

func TestServicesNeedANameANamespaceAndAPort_CRD22(t *testing.T) {
	for _, c := range []struct {
		namespace, name string
		port            int32
	}{{"", "a", 1}, {"a", "", 1}, {"a", "b", 0}} {
		if u, err := (DNS{}).ResolveEndpoint(c.namespace, c.name, c.port); err == nil || u != nil {
			t.Errorf("%+v: %v", c, u)
		}
	}
}

// failing resolves nothing.
type failing struct{}

func (failing) ResolveEndpoint(string, string, int32) (*url.URL, error) {
	return nil, errors.New("no such service")
}

func open(t *testing.T, c Config) *Client {
	t.Helper()
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// serve starts a server and returns how it is called.
func serve(t *testing.T, h http.HandlerFunc) Config {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	return Config{URL: srv.URL + "/path", CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), UserAgent: "tester"}
}

func TestServicesThatAreNotFound_CRD22(t *testing.T) {
	_, err := open(t, Config{Service: &Service{Namespace: "ns", Name: "svc"}, Services: failing{}}).Post(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "no such service") {
		t.Errorf("got %v", err)
	}
}

func TestTheLargestReply_CRD16(t *testing.T) {
	var size int
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, size)) })
	c.MaxReplyBytes = 1000
	w := open(t, c)
	size = 1000
	if got, err := w.Post(t.Context(), nil); err != nil || len(got) != size {
		t.Errorf("1000 bytes: %d, %v", len(got), err)
	}
	size++
	if _, err := w.Post(t.Context(), nil); err == nil || err.Error() != "the reply is larger than 1000 bytes" {
		t.Errorf("1001 bytes: %v", err)
	}
	size = 0
	if _, err := w.Post(t.Context(), nil); err == nil || err.Error() != "0-length response with status code: 200 and content type: application/json" {
		t.Errorf("no bytes: %v", err)
	}
}

func TestWhatIsSent(t *testing.T) {
	var got *http.Request
	var body []byte
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		_, _ = w.Write([]byte("{}"))
	})
	if reply, err := open(t, c).Post(t.Context(), []byte(`{"a":1}`)); err != nil || string(reply) != "{}" {
		t.Fatalf("got %s, %v", reply, err)
	}
	if got.Method != "POST" || got.URL.Path != "/path" || got.URL.RawQuery != "" || string(body) != `{"a":1}` ||
		got.Header.Get("Content-Type") != "application/json" || got.Header.Get("User-Agent") != "tester" {
		t.Errorf("got %s %s %v %s", got.Method, got.URL, got.Header, body)
	}
	ctx := ending{t.Context()}
	if _, err := open(t, c).Post(ctx, nil); err != nil || got.URL.RawQuery != "timeout=30s" {
		t.Errorf("told %q, %v", got.URL.RawQuery, err)
	}
	c.Timeout = 7 * time.Second
	if _, err := open(t, c).Post(ctx, nil); err != nil || got.URL.RawQuery != "timeout=7s" {
		t.Errorf("told %q, %v", got.URL.RawQuery, err)
	}
}

// ending is a context that ends in half a minute, whenever it is asked.
type ending struct{ context.Context }

func (ending) Deadline() (time.Time, bool) {
	return time.Now().Add(29*time.Second + time.Second/2), true
}

func TestASlowServerIsGivenUp(t *testing.T) {
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the departure of the client is not seen
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := open(t, c).Post(ctx, nil); !errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), "?timeout=1s\": context deadline exceeded") {
		t.Errorf("got %v", err)
	}
}

func TestWordsOfFailedReplies_CRD15(t *testing.T) {
	for _, c := range []struct {
		code        int
		media, body string
		want        string
	}{
		{500, "text/plain; charset=utf-8", " boom\n", `an error on the server ("boom") has prevented the request from succeeding`},
		{500, "text/html", "boom", `an error on the server ("boom") has prevented the request from succeeding`},
		{500, "application/json", "boom", `an error on the server ("unknown") has prevented the request from succeeding`},
		{500, "no;type;", "boom", `an error on the server ("unknown") has prevented the request from succeeding`},
		{503, "application/json", `{"kind":"Status","status":"Success","message":"x"}`, `the server is currently unable to handle the request`},
		{403, "application/json", `{"kind":"Status","status":"Failure","message":"not you"}`, `not you`},
		{403, "application/json", `{"kind":"Other","status":"Failure","message":"not you"}`, `unknown`},
	} {
		if err := statusError(c.code, c.media, []byte(c.body)); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

// Only TLS 1.2 and later is spoken, and only HTTP/1.1.
func TestTransport_CRD23(t *testing.T) {
	transport := open(t, Config{URL: "https://example.com/"}).client.Transport.(*http.Transport)
	if transport.TLSClientConfig.MinVersion != tls.VersionTLS12 || transport.TLSClientConfig.RootCAs != nil || transport.TLSClientConfig.InsecureSkipVerify || transport.TLSClientConfig.ServerName != "" {
		t.Errorf("got %+v", transport.TLSClientConfig)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			t.Errorf("HTTP/%d", r.ProtoMajor)
		}
		_, _ = w.Write([]byte("{}"))
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	c := Config{URL: srv.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})}
	if out, err := open(t, c).Post(t.Context(), nil); err != nil || string(out) != "{}" {
		t.Errorf("got %q, %v", out, err)
	}
}
