package webhook

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/conversion/convtest"
)

func TestWhereRequestsGo_CRD21_CRD22(t *testing.T) {
	port, zero, path, empty := int32(8443), int32(0), "/p", ""
	service := func(port *int32, path *string) apiextensionsv1.WebhookClientConfig {
		return apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "ns", Name: "svc", Port: port, Path: path}}
	}
	plain, both := "https://example.com:8443/convert", service(nil, nil)
	both.URL = &plain
	for want, c := range map[string]apiextensionsv1.WebhookClientConfig{
		"https://svc.ns.svc:443/":          service(nil, nil),
		"https://svc.ns.svc:443/p":         service(&zero, &path),
		"https://svc.ns.svc:8443/":         service(&port, &empty),
		"https://example.com:8443/convert": {URL: &plain},
	} {
		got, err := locate(&c)
		if err != nil || got.url.String() != want || (got.service != nil) != (c.Service != nil) {
			t.Errorf("got %v, %v; want %s", got.url, err, want)
		}
		if c.Service != nil && "https://svc.ns.svc:"+map[bool]string{true: "8443", false: "443"}[got.port == 8443] != strings.Join(strings.Split(want, "/")[:3], "/") {
			t.Errorf("%s: port %d", want, got.port)
		}
	}
	if got, err := locate(&both); err != nil || got.service == nil {
		t.Errorf("a service and a URL: %v, %v", got.url, err)
	}
	none := ""
	for want, u := range map[string]*string{
		"webhook configuration must have either service or URL":                                         nil,
		`url "http://a/b": 'https' is the only allowed URL scheme; desired format: https://host[/path]`: ref("http://a/b"),
		`url "https:///b": host must be specified; desired format: https://host[/path]`:                 ref("https:///b"),
		"url: user information is not permitted in the URL":                                             ref("https://u@a/b"),
		`url "https://a/b#c": fragments are not permitted in the URL`:                                   ref("https://a/b#c"),
		`url "https://a/b?c=d": query parameters are not permitted in the URL`:                          ref("https://a/b?c=d"),
		`url must be a valid URL: parse "https://a:b:c": invalid port ":b:c" after host`:                ref("https://a:b:c"),
	} {
		if _, err := New(Config{Conversion: &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: u}}}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := New(Config{Conversion: &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &none}}}); err == nil {
		t.Error("an empty URL is accepted")
	}
	if _, err := New(Config{Conversion: &apiextensionsv1.WebhookConversion{}}); err == nil || err.Error() != "webhook configuration must have either service or URL" {
		t.Errorf("no client configuration: %v", err)
	}
}

func ref(s string) *string { return &s }

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

func TestServicesThatAreNotFound_CRD22(t *testing.T) {
	c := &apiextensionsv1.WebhookConversion{ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{
		Service: &apiextensionsv1.ServiceReference{Namespace: "ns", Name: "svc"},
	}}
	_, err := open(t, Config{Conversion: c, Services: failing{}}).Convert(t.Context(), convtest.V1, [][]byte{convtest.Object(1, convtest.V1beta1)})
	if err == nil || !strings.Contains(err.Error(), "no such service") {
		t.Errorf("got %v", err)
	}
}

func TestEpochIsThatOfTheConfiguration(t *testing.T) {
	config := func(u string, versions ...string) *apiextensionsv1.WebhookConversion {
		return &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &u}, ConversionReviewVersions: versions}
	}
	a := open(t, Config{Conversion: config("https://a/b", "v1")}).Epoch()
	if a != open(t, Config{Conversion: config("https://a/b", "v1"), Timeout: time.Second}).Epoch() {
		t.Error("equal configurations have different epochs")
	}
	if a == open(t, Config{Conversion: config("https://a/c", "v1")}).Epoch() || a == open(t, Config{Conversion: config("https://a/b", "v1beta1")}).Epoch() || a == 0 {
		t.Error("different configurations have the same epoch")
	}
}

func TestTheLargestReply_CRD16(t *testing.T) {
	const reply = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"u","result":{"status":"Success"}}}`
	var size int
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(reply + strings.Repeat(" ", size)))
	})
	w := open(t, Config{Conversion: c, MaxReplyBytes: 1000, NewUID: func() string { return "u" }})
	size = 1000 - len(reply)
	if _, err := w.Convert(t.Context(), convtest.V1, nil); err != nil {
		t.Errorf("1000 bytes: %v", err)
	}
	size++
	if _, err := w.Convert(t.Context(), convtest.V1, nil); err == nil || err.Error() != "the reply is larger than 1000 bytes" {
		t.Errorf("1001 bytes: %v", err)
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
	u := "https://example.com/"
	transport := open(t, Config{Conversion: &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &u}}}).client.Transport.(*http.Transport)
	if transport.TLSClientConfig.MinVersion != tls.VersionTLS12 || transport.TLSClientConfig.RootCAs != nil || transport.TLSClientConfig.InsecureSkipVerify || transport.TLSClientConfig.ServerName != "" {
		t.Errorf("got %+v", transport.TLSClientConfig)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			t.Errorf("HTTP/%d", r.ProtoMajor)
		}
		crontabs(w, r)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	c := serve(t, nil)
	*c.ClientConfig.URL = srv.URL
	if out, err := open(t, Config{Conversion: c}).Convert(t.Context(), convtest.V1, [][]byte{convtest.Object(1, convtest.V1beta1)}); err != nil || len(out) != 1 {
		t.Errorf("got %q, %v", out, err)
	}
}
