package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// signingRequest is a request of somebody for a certificate of a client.
func signingRequest(t *testing.T, name, signer string) harness.Object {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return harness.Object{"metadata": map[string]any{"name": name}, "spec": map[string]any{
		"request": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), "signerName": signer, "usages": []any{"client auth"},
	}}
}

// TestExtensionServersMayBelieveSignedClients has a certificate signed, which whoever reads
// the ConfigMap of extension servers can verify.
func TestExtensionServersMayBelieveSignedClients(t *testing.T) {
	t.Parallel()
	api := harness.Start(t, harness.Options{}).API(t)
	const all = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	obj := api.Post(all, signingRequest(t, "jane", "kubernetes.io/kube-apiserver-client")).Want(201).Object()
	obj["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Approved", "status": "True", "reason": "Said", "message": "so"}}}
	api.Do("PUT", all+"/jane/approval", obj).Want(200)
	issued := api.Eventually(all+"/jane", func(r *harness.Reply) bool { return r.Code == 200 && r.Str("status.certificate") != "" }).Str("status.certificate")
	text, err := base64.StdEncoding.DecodeString(issued)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatalf("no certificate: %s", text)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	const config = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
	said := api.Eventually(config, func(r *harness.Reply) bool { return r.Code == 200 }).Str("data.client-ca-file")
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM([]byte(said)) {
		t.Fatalf("client-ca-file: %q", said)
	}
	if _, err := cert.Verify(x509.VerifyOptions{Roots: trusted, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil || cert.Subject.CommonName != "jane" {
		t.Errorf("%s: %v", cert.Subject, err)
	}
}

// TestWhoMayApproveAndSign_RBAC has users approve and sign who may write requests, and of
// whom only some may do that for the signer. What is said to who may not is
// kube-apiserver's.
func TestWhoMayApproveAndSign_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	s := &harness.Start(t, harness.Options{Args: []string{"--controllers=-csrsigning,*"}}).Server
	api := s.API(t)
	const all, rbac = "/apis/certificates.k8s.io/v1/certificatesigningrequests", "/apis/rbac.authorization.k8s.io/v1/"
	for user, signers := range map[string][]any{"writer": nil, "one": {"example.com/s"}, "domain": {"example.com/*"}, "another": {"example.com/t", "example.org/*"}} {
		rules := []any{map[string]any{"apiGroups": []any{"certificates.k8s.io"}, "resources": []any{"certificatesigningrequests/approval", "certificatesigningrequests/status"}, "verbs": []any{"update"}}}
		if signers != nil {
			rules = append(rules, map[string]any{"apiGroups": []any{"certificates.k8s.io"}, "resources": []any{"signers"}, "resourceNames": signers, "verbs": []any{"approve", "sign"}})
		}
		api.Post(rbac+"clusterroles", harness.Object{"metadata": map[string]any{"name": user}, "rules": rules}).Want(201)
		api.Post(rbac+"clusterrolebindings", harness.Object{"metadata": map[string]any{"name": user}, "roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
			"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}}}).Want(201)
	}
	for user, may := range map[string]bool{"writer": false, "one": true, "domain": true, "another": false} {
		obj := api.Post(all, signingRequest(t, user, "example.com/s")).Want(201).Object()
		for sub, c := range map[string]struct{ condition, refused string }{
			"approval": {"Approved", `user not permitted to approve requests with signerName "example.com/s"`},
			"status":   {"Looked", `user not permitted to sign requests with signerName "example.com/s"`},
		} {
			delete(obj["metadata"].(map[string]any), "resourceVersion")
			obj["status"] = map[string]any{"conditions": []any{map[string]any{"type": c.condition, "status": "True", "reason": "Said", "message": "so"}}}
			r := api.Do("PUT", all+"/"+user+"/"+sub+"?dryRun=All", obj, "Impersonate-User", user)
			if allowed := r.Code == 200; allowed != may || !may && (r.Code != 403 || !strings.Contains(r.Str("message"), c.refused)) {
				t.Errorf("%s of %s: %d %s", sub, user, r.Code, r.Str("message"))
			}
		}
		// What changes neither is nobody's business.
		obj["status"] = map[string]any{}
		api.Do("PUT", all+"/"+user+"/status?dryRun=All", obj, "Impersonate-User", user).Want(200)
	}
	for text, want := range map[string]string{"YQ==": "PEM block type must be CERTIFICATE REQUEST"} {
		bad := signingRequest(t, "bad", "example.com/s")
		bad["spec"].(map[string]any)["request"] = text
		if r := api.Post(all, bad).Want(422); !strings.Contains(r.Str("message"), "spec.request: Invalid value: \""+text+"\": "+want) {
			t.Error(r.Str("message"))
		}
	}
}
