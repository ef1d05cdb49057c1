package e2e

import (
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

// kubeconfigOf is one that names a server and nothing else.
func kubeconfigOf(t *testing.T, server string) string {
	t.Helper()
	return configFile(t, "kubeconfig", fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`, server))
}

// TestURLsOfConfigurationTellNoSecrets: servers of the audit log, of authorization and of
// tokens that do not answer are named in the log and to clients, and what they are shown is not.
func TestURLsOfConfigurationTellNoSecrets(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	host := strings.TrimPrefix(gone.URL, "http://")
	at := func(path string) string {
		return kubeconfigOf(t, "https://SECRET:SECRET@"+host+path+"?token=SECRET")
	}
	g := harness.Start(t, harness.Options{Args: []string{"-v4",
		"--audit-policy-file", configFile(t, "policy.yaml", `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}`),
		"--audit-webhook-config-file", at("/audit"), "--audit-webhook-initial-backoff=10ms", "--audit-webhook-batch-max-wait=50ms",
		"--authorization-mode=RBAC,Webhook", "--authorization-webhook-config-file", at("/authorization"),
		"--authentication-token-webhook-config-file", at("/tokens"),
	}})
	api := g.API(t)
	review := api.Post("/apis/authorization.k8s.io/v1/subjectaccessreviews", `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"bob","nonResourceAttributes":{"path":"/x","verb":"get"}}}`).Want(201)
	if said := review.Str("status.evaluationError"); !strings.Contains(said, "https://...@"+host+"/authorization") || strings.Contains(said, "SECRET") {
		t.Errorf("of a review it is said: %s", said)
	}
	as := g.API(t)
	as.Token = "of nobody"
	as.Get("/version").Want(401)
	for _, path := range []string{"/audit", "/authorization", "/tokens"} {
		if !harness.Poll(time.Minute, func() bool { return strings.Contains(g.Log(), "https://...@"+host+path) }) {
			t.Errorf("the log does not name the server of %s", path)
		}
	}
	if strings.Contains(g.Log(), "SECRET") {
		t.Error("the log tells a secret")
	}
	wrong := kubeconfigOf(t, "https://SECRET:SECRET%zz@"+host)
	for _, flags := range [][]string{
		{"--audit-webhook-config-file", wrong},
		{"--authorization-mode=Webhook", "--authorization-webhook-config-file", wrong},
		{"--authentication-token-webhook-config-file", wrong},
		{"--oidc-client-id=x", "--oidc-issuer-url", "https://SECRET@" + host + "?SECRET"},
		{"--etcd-servers", "https://SECRET:SECRET%zz@" + host},
		{"--embedded-etcd-client-url", "https://SECRET@" + host + "?SECRET"},
	} {
		args := append([]string{"serve", "--data-dir", filepath.Join(t.TempDir(), "data")}, flags...)
		out, err := exec.CommandContext(t.Context(), harness.Binary(t), args...).CombinedOutput()
		if err == nil || strings.Contains(string(out), "SECRET") || !strings.Contains(string(out), "https://...@"+host) {
			t.Errorf("%s: %v\n%s", flags, err, out)
		}
	}
}
