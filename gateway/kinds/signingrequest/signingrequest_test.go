package signingrequest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"net"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// ask is a request in PEM by whoever has a new key.
func ask(t *testing.T, r x509.CertificateRequest) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &r, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// stored is a request with some spec and conditions.
func stored(t *testing.T, e *realengine.Engine, name string, spec map[string]any, conditions ...string) {
	t.Helper()
	whole := map[string]any{
		"request":    base64.StdEncoding.EncodeToString(ask(t, x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: []string{"team"}}, DNSNames: []string{"a.example"}, IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1)}})),
		"signerName": certificatesv1.KubeAPIServerClientSignerName, "usages": []any{"client auth", "digital signature"},
	}
	for k, v := range spec {
		whole[k] = v
	}
	controllertest.MustCreate(t, e, requests, map[string]any{
		"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": map[string]any{"name": name}, "spec": whole,
	})
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	var list []any
	for _, c := range conditions {
		list = append(list, map[string]any{"type": c, "status": "True", "reason": "Said", "message": "so"})
	}
	if list != nil {
		controllertest.MustChange(t, e, requests, "approval", "", name, func(o *unstructured.Unstructured) { o.Object["status"] = map[string]any{"conditions": list} })
	}
}

// What is approved is signed as it was asked for, and nothing else is.
func TestWhatIsApprovedIsSigned(t *testing.T) {
	e := realengine.Start(t)
	certFile, keyFile, err := pki.ClientAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	authority, err := ReadAuthority(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	controllertest.Start(t, e, &Signer{Objects: e, Authority: func() (*Authority, error) { return ReadAuthority(certFile, keyFile) }, Longest: 100 * time.Hour})
	approved := string(certificatesv1.CertificateApproved)
	stored(t, e, "pending", nil)
	stored(t, e, "denied", nil, string(certificatesv1.CertificateDenied))
	stored(t, e, "others", map[string]any{"signerName": "example.com/s"}, approved)
	stored(t, e, "usage", map[string]any{"usages": []any{"client auth", "cert sign"}}, approved)
	stored(t, e, "server", map[string]any{"usages": []any{"digital signature"}}, approved)
	for name, c := range map[string]struct {
		seconds any
		want    time.Duration
	}{
		"longest": {nil, 100*time.Hour - backdated}, "more": {int64(1000000), 100*time.Hour - backdated}, "hours": {int64(7200), 2 * time.Hour}, "least": {int64(600), 10 * time.Minute},
	} {
		began := time.Now()
		stored(t, e, name, map[string]any{"expirationSeconds": c.seconds}, approved)
		var cert *x509.Certificate
		controllertest.Eventually(t, e, name+" is signed", func() bool {
			_, r, err := get(t.Context(), e, name)
			if err != nil || r == nil || len(r.Status.Certificate) == 0 {
				return false
			}
			block, _ := pem.Decode(r.Status.Certificate)
			cert, err = x509.ParseCertificate(block.Bytes)
			return err == nil
		})
		if err := cert.CheckSignatureFrom(authority.certificate); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := cert.NotAfter.Sub(began); got < c.want-time.Second || got > c.want+time.Minute {
			t.Errorf("%s lasts %s, want %s", name, got, c.want)
		}
		if cert.Subject.CommonName != name || cert.IsCA || cert.KeyUsage != x509.KeyUsageDigitalSignature || len(cert.ExtKeyUsage) != 1 || cert.ExtKeyUsage[0] != x509.ExtKeyUsageClientAuth ||
			len(cert.DNSNames) != 1 || len(cert.IPAddresses) != 1 || cert.NotBefore.After(began.Add(-4*time.Minute)) {
			t.Errorf("%s: %+v", name, cert)
		}
	}
	for name, want := range map[string]string{"usage": "invalid usage for client certificate: cert sign", "server": "missing required usage for client certificate: client auth"} {
		controllertest.Eventually(t, e, name+" fails", func() bool {
			_, reason, message := controllertest.Condition(controllertest.MustGet(t, e, requests, "", name), "Failed")
			return reason == "SignerValidationFailure" && message == want
		})
	}
	for _, name := range []string{"pending", "denied", "others", "usage", "server"} {
		if _, r, err := get(t.Context(), e, name); err != nil || len(r.Status.Certificate) > 0 {
			t.Errorf("%s is signed: %v", name, err)
		}
	}
}

// Requests are kept as long as kube-controller-manager keeps them.
func TestHowLongRequestsAreKept(t *testing.T) {
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	said := made.Add(time.Hour)
	certFile, keyFile, err := pki.ClientAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	authority, err := ReadAuthority(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(ask(t, x509.CertificateRequest{}))
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	brief, err := authority.sign(asked, 0, 70*time.Minute, made)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		condition   certificatesv1.RequestConditionType
		certificate []byte
		want        time.Time
	}{
		"pending":  {"", nil, made.Add(24 * time.Hour)},
		"approved": {certificatesv1.CertificateApproved, nil, said.Add(24 * time.Hour)},
		"issued":   {certificatesv1.CertificateApproved, []byte("-"), said.Add(time.Hour)},
		"expired":  {certificatesv1.CertificateApproved, brief, made.Add(70 * time.Minute)},
		"denied":   {certificatesv1.CertificateDenied, nil, said.Add(time.Hour)},
		"failed":   {certificatesv1.CertificateFailed, nil, said.Add(time.Hour)},
		"another":  {"Looked", nil, time.Time{}},
	} {
		r := &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made)}}
		if r.Status.Certificate = c.certificate; c.condition != "" {
			r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: c.condition, Status: corev1.ConditionTrue, LastUpdateTime: metav1.NewTime(said)}}
		}
		if got := ends(r); !got.Equal(c.want) {
			t.Errorf("%s: until %s, want %s", name, got, c.want)
		}
	}
}

func TestOldRequestsGo(t *testing.T) {
	e := realengine.Start(t)
	stored(t, e, "pending", nil)
	stored(t, e, "denied", nil, string(certificatesv1.CertificateDenied))
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	controllertest.Start(t, e, &Cleaner{Objects: e, Now: func() time.Time { return time.Now().Add(2 * time.Hour) }})
	controllertest.Eventually(t, e, "what was denied goes", func() bool { return controllertest.Gone(e, requests, "", "denied") })
	if controllertest.Gone(e, requests, "", "pending") {
		t.Error("what waits is gone")
	}
}
