package docs

import (
	"os/exec"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestAdmissionDoc types the commands of docs/admission.md, in order.
func TestAdmissionDoc_WP02(t *testing.T) {
	typeDocument(t, "admission.md", "policy.wasm", []string{`denied the request: ConfigMap prices needs a label "team"`, "sales   standard", `"policy" deleted`,
		"exceeded quota: few, requested: count/secrets=1, used: count/secrets=1, limited: count/secrets=1"})
}

// TestAggregationDoc types docs/aggregation.md.
func TestAggregationDoc(t *testing.T) {
	typeDocument(t, "aggregation.md", "none.wasm", []string{
		"v1.apps", "Local", "True", "apiservice.apiregistration.k8s.io/v1.example.org created", "condition met",
		"default/example", "False (ServiceNotFound)", "ServiceUnavailable", "deleted", `["front-proxy-client"]`,
	})
}

// TestFlowControlDoc types docs/flowcontrol.md.
func TestFlowControlDoc(t *testing.T) {
	typeDocument(t, "flowcontrol.md", "none.wasm", []string{
		"global-default", "workload-low", "workload-low annotated", "workload-low patched",
		"DispatchedRequests", "NextDispatchR", "UserName",
	})
}

// TestCertificatesDoc types docs/certificates.md: a key, a request, an approval, and who
// it is that shows the certificate.
func TestCertificatesDoc(t *testing.T) {
	harness.SkipExternal(t)
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed: apt-get install openssl")
	}
	t.Parallel()
	folder := t.TempDir()
	typeAt(t, harness.Start(t, harness.Options{}), folder, "certificates.md", "none.wasm", []string{
		"certificatesigningrequest.certificates.k8s.io/jane created", "Pending",
		"use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed",
		`user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"`,
		"certificatesigningrequest.certificates.k8s.io/jane approved", "condition met", "jane", "[team system:authenticated]",
	})
}
