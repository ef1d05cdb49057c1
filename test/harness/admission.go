package harness

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Admission is an HTTPS admission webhook in the test process. What it answers
// is decided by the path that it is called at.
type Admission struct {
	// URL is where it listens, without a path.
	URL string
	// CABundle is the PEM certificate of its authority.
	CABundle []byte

	mu      sync.Mutex
	answers map[string]Answer
	calls   []Review
}

// Answer makes the response to a request, or answers by itself and returns nil.
// The uid is filled in, unless there is one.
type Answer func(w http.ResponseWriter, r *http.Request, request Object) map[string]any

// Review is a call of the webhook: the path without the slash, the query, and
// what was sent.
type Review struct {
	Path, Query string
	Object
}

// NewAdmission starts a webhook that allows everything; it is stopped when the
// test ends.
func NewAdmission(t testing.TB) *Admission {
	t.Helper()
	h := &Admission{answers: map[string]Answer{}}
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	h.URL = server.URL
	h.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return h
}

// At makes a the answer at a path.
func (h *Admission) At(path string, a Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[path] = a
}

// Client is the clientConfig of a webhook at a path.
func (h *Admission) Client(path string) map[string]any {
	return map[string]any{"url": h.URL + "/" + path, "caBundle": base64.StdEncoding.EncodeToString(h.CABundle)}
}

// Calls returns the calls since the last time, and forgets them.
func (h *Admission) Calls() []Review {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.calls
	h.calls = nil
	return out
}

// ServeHTTP answers an AdmissionReview.
func (h *Admission) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review Object
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/")
	h.mu.Lock()
	h.calls = append(h.calls, Review{path, r.URL.RawQuery, review})
	answer := h.answers[path]
	h.mu.Unlock()
	response := map[string]any{"allowed": true}
	if answer != nil {
		if response = answer(w, r, review); response == nil {
			return
		}
	}
	if response["uid"] == nil {
		response["uid"] = review.At("request.uid")
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(Object{"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})
}

// Always answers with the same response; patch, if not "", is a JSON patch.
func Always(allowed bool, patch string, warnings ...string) Answer {
	return func(http.ResponseWriter, *http.Request, Object) map[string]any {
		out := map[string]any{"allowed": allowed}
		if patch != "" {
			out["patchType"], out["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString([]byte(patch))
		}
		if len(warnings) > 0 {
			out["warnings"] = warnings
		}
		return out
	}
}
