package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestWebhooksAreShownCredentials has a mutating webhook that is shown a token, and a
// validating one that is shown a password and a certificate, by the files that
// --admission-control-config-file names.
func TestWebhooksAreShownCredentials(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	seen := make(chan string, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review harness.Object
		_ = json.NewDecoder(r.Body).Decode(&review)
		seen <- fmt.Sprintf("%s %q %d", r.URL.Path, r.Header.Get("Authorization"), len(r.TLS.PeerCertificates))
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": map[string]any{"uid": review.Str("request.uid"), "allowed": true}})
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)

	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	write("token", "first\n")
	write("client.crt", string(certificate))
	write("client.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	mutating := write("mutating", `{apiVersion: v1, kind: Config, users: [{name: "`+server.Listener.Addr().String()+`", user: {tokenFile: token}}]}`)
	validating := write("validating", `{apiVersion: v1, kind: Config, users: [{name: "*", user: {username: u, password: p, client-certificate: client.crt, client-key: client.key}}]}`)
	const plugin = "- {name: %s, configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %s}}\n"
	file := write("admission.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"+fmt.Sprintf(plugin, "MutatingAdmissionWebhook", mutating)+fmt.Sprintf(plugin, "ValidatingAdmissionWebhook", validating))

	api := harness.Start(t, harness.Options{Args: []string{"--controllers=", "--admission-control-config-file=" + file}}).API(t)
	for kind, plural := range map[string]string{"mutating": "mutatingwebhookconfigurations", "validating": "validatingwebhookconfigurations"} {
		api.Post("/apis/admissionregistration.k8s.io/v1/"+plural, json.RawMessage(fmt.Sprintf(`{"metadata":{"name":"w"},"webhooks":[{"name":"w.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"%s/%s","caBundle":%q},"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}]}`,
			server.URL, kind, base64.StdEncoding.EncodeToString(certificate)))).Want(201)
	}
	create := func() (mutating string) {
		api.Post("/api/v1/namespaces/default/configmaps", json.RawMessage(`{"metadata":{"generateName":"m-"}}`)).Want(201)
		mutating = <-seen
		if got := <-seen; got != `/validating "Basic dTpw" 1` {
			t.Errorf("the validating webhook sees %s", got)
		}
		return mutating
	}
	if got := create(); got != `/mutating "Bearer first" 0` {
		t.Errorf("the mutating webhook sees %s", got)
	}
	write("token", "second\n")
	harness.Eventually(t, "the token that was written last is shown", func() bool { return create() == `/mutating "Bearer second" 0` })
}
