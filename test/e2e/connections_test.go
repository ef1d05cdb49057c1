package e2e

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestConnectionsAreBounded: who opens connections and says nothing has only so many from
// one address, and a user only so many; others notice nothing of that.
func TestConnectionsAreBounded(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("alicetoken,alice,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{Args: []string{"--token-auth-file", tokens, "--max-connections-per-user=3", "--max-connections-per-address=5"}})
	admin, alice := g.API(t), g.API(t)
	alice.Token = "alicetoken"
	admin.Post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{"metadata":{"name":"alice"},
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"}]}`).Want(201)
	const watch = "/api/v1/namespaces/default/configmaps?watch=1"
	var watches []*harness.Stream
	for range 3 {
		watches = append(watches, alice.Watch(watch))
	}
	if r := alice.Get(watch).WantStatus(429, "TooManyRequests", "this user has as many connections open as one may have: close some, or have the operator set --max-connections-per-user"); r.Header.Get("Retry-After") == "" {
		t.Errorf("no Retry-After: %v", r.Header)
	}
	for range 4 { // who administers is not bounded
		watches = append(watches, admin.Watch(watch))
	}
	admin.Eventually("/metrics", metrics(`wasmgate_connections_refused_total{by="user"} 1`))
	watches[0].Close()
	admin.Eventually("/readyz", func(*harness.Reply) bool { // until the gateway has noticed
		r, err := alice.Try("GET", "/api/v1/namespaces/default/configmaps", nil)
		return err == nil && r.Code == 200
	})

	address := strings.TrimPrefix(g.URL, "https://")
	for range 5 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	admin.Eventually("/metrics", metrics(`wasmgate_connections{identified="false"} 5`)) // on a connection that is there
	if c, err := tls.DialWithDialer(&net.Dialer{Timeout: 30 * time.Second}, "tcp", address, &tls.Config{InsecureSkipVerify: true}); err == nil {
		c.Close()
		t.Error("an address has one too many")
	}
	admin.Eventually("/metrics", metrics(`wasmgate_connections_refused_total{by="address"} 1`))
	admin.Post(configMaps("default"), `{"metadata":{"name":"still"}}`).Want(201)
}

// metrics tells whether lines are among metrics.
func metrics(lines ...string) func(*harness.Reply) bool {
	return func(r *harness.Reply) bool {
		for _, l := range lines {
			if !strings.Contains(string(r.Body), "\n"+l+"\n") {
				return false
			}
		}
		return true
	}
}
