package harness

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Webhook is an HTTPS conversion webhook in the test process. It converts
// CronTabs between hostPort (versions that start with v1beta) and host and port
// (all others).
type Webhook struct {
	// URL is where it listens.
	URL string
	// CABundle is the PEM certificate of its authority.
	CABundle []byte

	mu      sync.Mutex
	fault   Fault
	reviews []Object
}

// Fault changes a reply before it is sent, or makes one of its own: it gets the
// request review, the good reply review, and the writer. It returns false when
// it answered already.
type Fault func(w http.ResponseWriter, request, reply Object) bool

// NewWebhook starts a webhook; it is stopped when the test ends.
func NewWebhook(t testing.TB) *Webhook {
	t.Helper()
	h := &Webhook{}
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	h.URL = server.URL + "/convert"
	h.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return h
}

// Inject makes every later reply pass through f; nil makes it well again.
func (h *Webhook) Inject(f Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = f
}

// Reviews are the requests so far.
func (h *Webhook) Reviews() []Object {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Object(nil), h.reviews...)
}

// ServeHTTP answers a ConversionReview.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review Object
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	h.reviews = append(h.reviews, review)
	fault := h.fault
	h.mu.Unlock()
	reply := answer(review)
	if fault != nil && !fault(w, review, reply) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}

// answer makes the good reply. The request stays as it is.
func answer(review Object) Object {
	desired := review.Str("request.desiredAPIVersion")
	objects, _ := review.At("request.objects").([]any)
	converted := []any{}
	for _, o := range objects {
		var copied map[string]any
		if b, err := json.Marshal(o); err == nil {
			_ = json.Unmarshal(b, &copied)
		}
		converted = append(converted, convertCronTab(copied, desired))
	}
	return Object{
		"apiVersion": review["apiVersion"], "kind": review["kind"],
		"response": map[string]any{
			"uid": review.At("request.uid"), "convertedObjects": converted,
			"result": map[string]any{"status": "Success"},
		},
	}
}

// convertCronTab converts in place. The fields may be in the object itself, as
// in the Kubernetes documentation, or in its spec.
func convertCronTab(o map[string]any, desired string) map[string]any {
	o["apiVersion"] = desired
	_, version, _ := strings.Cut(desired, "/")
	convertFields(o, strings.HasPrefix(version, "v1beta"))
	if spec, ok := o["spec"].(map[string]any); ok {
		convertFields(spec, strings.HasPrefix(version, "v1beta"))
	}
	return o
}

func convertFields(m map[string]any, join bool) {
	if join {
		host, hasHost := m["host"].(string)
		port, hasPort := m["port"].(string)
		if hasHost || hasPort {
			m["hostPort"] = host + ":" + port
			delete(m, "host")
			delete(m, "port")
		}
	} else if hostPort, ok := m["hostPort"].(string); ok {
		m["host"], m["port"], _ = strings.Cut(hostPort, ":")
		delete(m, "hostPort")
	}
}
