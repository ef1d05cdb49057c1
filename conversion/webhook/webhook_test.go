package webhook

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/convtest"
	"github.com/wasmgate/wasmgate/conversion/convtest/faults"
	_ "github.com/wasmgate/wasmgate/examples/crontab"
	"github.com/wasmgate/wasmgate/sdk"
	"github.com/wasmgate/wasmgate/webhook"
)

// serve starts a webhook and returns its configuration.
func serve(t *testing.T, h http.HandlerFunc) *apiextensionsv1.WebhookConversion {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	u := srv.URL + "/convert"
	return &apiextensionsv1.WebhookConversion{
		ConversionReviewVersions: []string{"v1", "v1beta1"},
		ClientConfig: &apiextensionsv1.WebhookClientConfig{
			URL:      &u,
			CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}),
		},
	}
}

func crontabs(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// Without a content type, as the usual frameworks do.
	_, _ = w.Write(sdk.HandleConversion(body))
}

func open(t *testing.T, cfg Config) *Webhook {
	t.Helper()
	w, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func TestConformance_CRD11(t *testing.T) {
	convtest.Run(t, convtest.Subject{New: func(t *testing.T) conversion.Converter {
		return open(t, Config{Conversion: serve(t, crontabs)})
	}})
}

func TestFaults_CRD15_CRD16_CRD17(t *testing.T) {
	convtest.Faults(t, open(t, Config{Conversion: serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(faults.Reply(body))
	})}), conversion.Told{Converter: "conversion webhook"})
}

func TestRequest_CRD13(t *testing.T) {
	var bodies []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.URL.String() != "/convert?timeout=30s" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		_, _ = w.Write(sdk.HandleConversion(body))
	})
	wh := open(t, Config{Conversion: c})
	for range 2 {
		if _, err := wh.Convert(t.Context(), convtest.V1, [][]byte{convtest.Object(1, convtest.V1beta1)}); err != nil {
			t.Fatal(err)
		}
	}
	pattern := regexp.MustCompile(`^\{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":\{"uid":"[0-9a-f]{8}-[0-9a-f-]{27}","desiredAPIVersion":"example.com/v1","objects":\[` +
		regexp.QuoteMeta(string(convtest.Object(1, convtest.V1beta1))) + `\]\}\}$`)
	if !pattern.MatchString(bodies[0]) || bodies[0] == bodies[1] {
		t.Errorf("requests:\n%s\n%s", bodies[0], bodies[1])
	}
}

func TestReviewVersions_CRD19(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"apiextensions.k8s.io/v1beta1"`) {
			t.Errorf("request %s", body)
		}
		_, _ = w.Write(sdk.HandleConversion(body))
	})
	c.ConversionReviewVersions = []string{"v9", "v1beta1", "v1"}
	if _, err := open(t, Config{Conversion: c}).Convert(t.Context(), convtest.V1, [][]byte{convtest.Object(1, convtest.V1beta1)}); err != nil {
		t.Error(err)
	}
	c.ConversionReviewVersions = nil
	if _, err := open(t, Config{Conversion: c}).Convert(t.Context(), convtest.V1, nil); err == nil || err.Error() != "no supported conversion review versions" {
		t.Errorf("got %v", err)
	}
}

// The messages are kube-apiserver 1.36's for the same replies, except for
// redirects, which it follows.
func TestBadReplies_CRD15_CRD16(t *testing.T) {
	given := make(chan struct{}) // closed once the client gave up
	status := func(code int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if contentType != "" {
				w.Header().Set("Content-Type", contentType)
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"500", status(500, "", "boom"), `an error on the server ("boom") has prevented the request from succeeding`},
		{"500 with a Status", status(500, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"st msg","code":500}`), "st msg"},
		{"500 with a long Status", status(500, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"`+strings.Repeat("x", 1<<19)+`","code":500}`), strings.Repeat("x", 4096) + "..."},
		{"500 with a long text", status(500, "", strings.Repeat("x", 1<<19)), `an error on the server ("` + strings.Repeat("x", 2048) + `") has prevented the request from succeeding`},
		{"404", status(404, "", ""), "the server could not find the requested resource"},
		{"207", status(207, "", "{}"), "the server responded with the status code 207 but did not return more information"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}, "the server responded with the status code 307 but did not return more information"},
		{"empty", status(200, "", ""), "0-length response with status code: 200 and content type: application/json"},
		{"html", status(200, "text/html", "<html>"), `couldn't get version/kind; json parse error: invalid JSON at byte 0, near "<html>"`},
		{"failed", status(200, "", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"the-uid","result":{"status":"Failed","message":"hostPort could not be parsed into a separate host and port"}}}`), "hostPort could not be parsed into a separate host and port"},
		{"too large", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, 2<<20))
		}, "the reply is larger than 1048576 bytes"},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"slow", func(http.ResponseWriter, *http.Request) { <-given }, "Client.Timeout exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			timeout := 10 * time.Second
			if c.name == "slow" {
				timeout = 50 * time.Millisecond
			}
			w := open(t, Config{Conversion: serve(t, c.handler), Timeout: timeout, MaxReplyBytes: 1 << 20, NewUID: func() string { return "the-uid" }})
			_, err := conversion.Checked(w).Convert(t.Context(), convtest.V1, [][]byte{convtest.Object(1, convtest.V1beta1)})
			if c.name == "slow" {
				close(given)
			}
			prefix := "conversion webhook for example.com/v1beta1, Kind=CronTab failed: "
			exact := c.name != "hangs up" && c.name != "slow"
			if err == nil || exact && err.Error() != prefix+c.want || !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, prefix+c.want)
			}
		})
	}
}

func TestRecoversAtOnce_CRD18(t *testing.T) {
	broken := true
	w := open(t, Config{Conversion: serve(t, func(w http.ResponseWriter, r *http.Request) {
		if broken {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		crontabs(w, r)
	})})
	in := [][]byte{convtest.Object(1, convtest.V1beta1)}
	if _, err := w.Convert(t.Context(), convtest.V1, in); err == nil {
		t.Fatal("no error")
	}
	broken = false
	if _, err := w.Convert(t.Context(), convtest.V1, in); err != nil {
		t.Fatal(err)
	}
}

// fixed resolves every service to one place.
type fixed struct {
	t    *testing.T
	host string
}

func (f fixed) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if namespace != "ns" || name != "example" || port != 1234 {
		f.t.Errorf("asked for %s/%s:%d", namespace, name, port)
	}
	return &url.URL{Scheme: "https", Host: f.host}, nil
}

func TestServiceReference_CRD22(t *testing.T) {
	c := serve(t, crontabs)
	u, err := url.Parse(*c.ClientConfig.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, path := int32(1234), "/my-path"
	c.ClientConfig.URL = nil
	c.ClientConfig.Service = &apiextensionsv1.ServiceReference{Namespace: "ns", Name: "example", Port: &port, Path: &path}
	_, err = open(t, Config{Conversion: c, Services: fixed{t, u.Host}}).Convert(t.Context(), convtest.V1, [][]byte{convtest.Object(1, convtest.V1beta1)})
	// The test server's certificate is for example.com, so that the name that
	// is verified shows.
	if err == nil || !strings.Contains(err.Error(), `Post "https://example.ns.svc:1234/my-path?timeout=30s"`) || !strings.Contains(err.Error(), "not example.ns.svc") {
		t.Errorf("got %v", err)
	}
	if got, err := (webhook.DNS{}).ResolveEndpoint("ns", "example", 443); err != nil || got.String() != "https://example.ns.svc:443" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestTrust_CRD23(t *testing.T) {
	c := serve(t, crontabs)
	c.ClientConfig.CABundle = []byte(" \n")
	_, err := open(t, Config{Conversion: c}).Convert(t.Context(), convtest.V1, [][]byte{convtest.Object(1, convtest.V1beta1)})
	if err == nil || !strings.Contains(err.Error(), "failed to verify certificate") {
		t.Errorf("system roots: %v", err)
	}
	c.ClientConfig.CABundle = []byte("nonsense")
	if _, err := New(Config{Conversion: c}); err == nil {
		t.Error("a bundle without certificates is accepted")
	}
}

func TestBadURLs_CRD21(t *testing.T) {
	for _, u := range []string{"", "http://a/b", "https://", "https://user:password@a/b", "https://a/b#c", "https://a/b?c=d", "wasm://x", "https://a:b:c"} {
		_, err := New(Config{Conversion: &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &u}}})
		if err == nil {
			t.Errorf("%q is accepted", u)
		}
	}
	if _, err := New(Config{}); err == nil || errors.Unwrap(err) != nil {
		t.Errorf("no configuration: %v", err)
	}
}
