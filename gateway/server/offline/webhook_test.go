package offline_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
)

// hook is a conversion webhook that drops a field on the way to v2, if it is one that
// loses.
type hook struct {
	loses, down bool
	calls       atomic.Int64
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.calls.Add(1)
	if h.down {
		http.Error(w, "starting", http.StatusServiceUnavailable)
		return
	}
	var review struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Request    map[string]any `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	to, _ := review.Request["desiredAPIVersion"].(string)
	objects, _ := review.Request["objects"].([]any)
	for _, o := range objects {
		obj, _ := o.(map[string]any)
		obj["apiVersion"] = to
		if h.loses && strings.HasSuffix(to, "/v2") {
			delete(obj, "zone")
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": map[string]any{
		"uid": review.Request["uid"], "result": map[string]any{"status": "Success"}, "convertedObjects": objects,
	}})
}

// A webhook is proved as a module is, and not asked more often than it may be; one that
// cannot answer loses nothing.
func TestWebhooksAreProved(t *testing.T) {
	definitions := widgets(`zone: {type: string}`, `zone: {type: string}`)
	for name, c := range map[string]struct {
		*hook
		perSecond int
		budget    time.Duration
		lossless  string
	}{
		"one that loses a field":   {&hook{loses: true}, 100000, 10 * time.Minute, "False"},
		"its twin":                 {&hook{}, 100000, 10 * time.Minute, "True"},
		"one that cannot answer":   {&hook{down: true}, 100000, 10 * time.Minute, "Unknown"},
		"one that is asked seldom": {&hook{}, 10, 2 * time.Second, "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewTLSServer(c.hook)
			defer server.Close()
			what := workbench.Proof{Definitions: definitions, Objects: 30, Budget: c.budget, Seed: 1, Webhook: &workbench.Webhook{
				URL: server.URL + "/convert", PerSecond: c.perSecond, CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}}
			started := time.Now()
			got, err := offline.Tools{}.Prove(t.Context(), what)
			if err != nil {
				t.Fatal(err)
			}
			if most := time.Since(started).Seconds()*float64(c.perSecond) + 1; float64(c.calls.Load()) > most {
				t.Errorf("it was asked %d times, which is more than %.0f", c.calls.Load(), most)
			}
			if got.Lossless != c.lossless {
				t.Errorf("%+v", got)
			}
			if c.loses && (len(got.Losses) == 0 || got.Losses[0].Field != "zone") {
				t.Errorf("%+v", got.Losses)
			}
			what.Webhook.CA = nil // which is of no authority that the system knows
			if got, err = (offline.Tools{}).Prove(t.Context(), what); err != nil || got.Lossless != "Unknown" || !strings.Contains(got.Why, "certificate") {
				t.Errorf("without its authority: %+v, %v", got, err)
			}
		})
	}
}
