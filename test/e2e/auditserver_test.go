package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestEventsGoToAServer has a server take the events of a gateway, which waits for it with
// no request: what it does not take is counted, and told by health until it does again.
func TestEventsGoToAServer(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	var mu sync.Mutex
	var made []string
	var down atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var l auditv1.EventList
		if err := json.NewDecoder(r.Body).Decode(&l); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, e := range l.Items {
			if e.Verb == "create" && e.ObjectRef != nil && e.ObjectRef.Resource == "configmaps" && e.ResponseStatus != nil && e.ResponseStatus.Code == 201 {
				made = append(made, e.ObjectRef.Name)
			}
		}
	}))
	t.Cleanup(s.Close) // after the gateway, which sends what is left when it ends
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	server := write("server.yaml", `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"a","cluster":{"server":"`+s.URL+`"}}],"users":[{"name":"u"}],"contexts":[{"name":"c","context":{"cluster":"a","user":"u"}}],"current-context":"c"}`)
	policy := write("policy.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n")
	g := harness.Start(t, harness.Options{Args: []string{
		"--audit-policy-file", policy, "--audit-webhook-config-file", server, "--audit-webhook-initial-backoff=10ms", "--audit-webhook-batch-max-wait=50ms",
	}})
	api := g.API(t)
	sent := func(name string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.Contains(made, name)
		}
	}
	api.Post(inDefault, configMapOf("first")).Want(201)
	harness.Eventually(t, "the server has the event", sent("first"))
	down.Store(true)
	api.Post(inDefault, configMapOf("second")).Want(201)
	harness.Eventually(t, "health tells of it", func() bool { return api.Get("/healthz/audit").Code == 500 })
	if lost := metric(t, api, "apiserver_audit_error_total", `plugin="webhook"`); lost == 0 {
		t.Error("nothing is counted")
	}
	api.Get("/readyz").Want(200)
	down.Store(false)
	api.Post(inDefault, configMapOf("third")).Want(201)
	harness.Eventually(t, "the server has events again", sent("third"))
}
