package e2e

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

// waiting is an HTTPS server that answers nothing: it tells of each request when
// it came and when its client left.
type waiting struct {
	*httptest.Server
	came, left chan struct{}
}

func newWaiting(t *testing.T) *waiting {
	t.Helper()
	w := &waiting{came: make(chan struct{}, 100), left: make(chan struct{}, 100)}
	w.Server = httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the departure of the client is not seen
		w.came <- struct{}{}
		<-r.Context().Done()
		w.left <- struct{}{}
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *waiting) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw})
}

// wantLeft fails the test unless the server was left long before its time is over.
func (w *waiting) wantLeft(t *testing.T) {
	t.Helper()
	select {
	case <-w.left:
	case <-time.After(20 * time.Second): // its time is 30 s
		t.Error("the work goes on without its client")
	}
}

// What a request began ends when its client leaves: calls of webhooks and of
// modules, and nothing is stored that was not judged to the end.
func TestWorkEndsWithItsClient(t *testing.T) {
	t.Run("a validating webhook, whose failures do not matter", func(t *testing.T) {
		a, server := newAdmitted(t), newWaiting(t)
		hook := a.hook("judge", `{"failurePolicy":"Ignore","timeoutSeconds":30}`)
		hook["clientConfig"] = (&harness.Admission{URL: server.URL, CABundle: server.ca()}).Client("judge")
		a.validating(hook)
		a.api.Leave("POST", configMaps(a.ns), configMap(t, a.ns, "left", `{}`), func() { <-server.came })
		server.wantLeft(t)
		a.api.Get(configMaps(a.ns) + "/left").Want(404) // nobody judged it
	})
	t.Run("CRD-18 a conversion webhook", func(t *testing.T) {
		hook, server := harness.NewWebhook(t), newWaiting(t)
		hook.URL, hook.CABundle = server.URL, server.ca()
		c := newWebhookCronTabs(t, harness.Shared(t), hook)
		c.api.Post(c.list("v1beta1"), c.object("v1beta1", "one", `{"hostPort":"h:1"}`)).Want(201)
		for _, path := range []string{c.path("v1", "one"), c.list("v1")} {
			c.api.Leave("GET", path, nil, func() { <-server.came })
			server.wantLeft(t)
		}
	})
	t.Run("WP-01 a module", func(t *testing.T) {
		harness.SkipExternal(t)
		s, module := harness.Shared(t), "leaving-"+unique()
		pushModule(t, s.API(t), module, harness.Module(t, "testdata/faulty"), "timeout", "60s")
		c := newWasmCronTabs(t, s, module)
		o := c.object("v1beta1", "loop", `{"host":"h"}`)
		o.Set("metadata.annotations", map[string]any{"fault": "loop"})
		c.api.Post(c.list("v1beta1"), o).Want(201)
		inUse := func(n string) func() bool {
			line := `wasmgate_plugin_instances{module="` + module + `",state="in_use"} ` + n
			return func() bool { return c.api.Get("/metrics").Contains(line) }
		}
		c.api.Leave("GET", c.path("v1", "loop"), nil, func() { harness.Poll(time.Minute, inUse("1")) })
		if !harness.Poll(time.Minute, inUse("0")) {
			t.Error("the module goes on without its client")
		}
	})
}
