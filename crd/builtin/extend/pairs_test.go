package extend_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// certificate is one in PEM, its bytes, and its key in PEM.
func certificate(t *testing.T) (text string, der []byte, key string) {
	t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour)}
	der, err = x509.CreateCertificate(rand.Reader, of, of, &made.PublicKey, made)
	if err != nil {
		t.Fatal(err)
	}
	keyed, err := x509.MarshalECPrivateKey(made)
	if err != nil {
		t.Fatal(err)
	}
	return block("CERTIFICATE", nil, der), der, block("EC PRIVATE KEY", nil, keyed)
}

func block(kind string, headers map[string]string, of []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Headers: headers, Bytes: of}))
}

// Certificates that are signed are certificates in PEM and nothing else.
func TestCertificatesThatAreGiven(t *testing.T) {
	one, der, _ := certificate(t)
	empty := block("CERTIFICATE", nil, nil)
	const at = `status.certificate: Invalid value: "<certificate data>": `
	for text, want := range map[string]string{
		one: "", one + one: "",
		"":                                     "",
		"words":                                at + "must contain at least one CERTIFICATE PEM block",
		block("CERTIFICATE REQUEST", nil, der): at + `only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"`,
		block("CERTIFICATE", map[string]string{"a": "b"}, der): at + "no PEM block headers are permitted",
		block("CERTIFICATE", nil, []byte("x")):                 at + "x509: malformed certificate",
		one + block("CERTIFICATE", nil, []byte("x")):           at + "x509: malformed certificate",
		one + empty: at + "found CERTIFICATE PEM block containing 0 certificates",
	} {
		body := `{"metadata":{"name":"r"},"spec":{"request":"YQ==","signerName":"example.com/s","usages":["client auth"]},"status":{"certificate":"%s"}}`
		given := base64.StdEncoding.EncodeToString([]byte(text))
		d := builtintest.Definitions(t)["certificatesigningrequest"]
		if got := crdtest.Message(crdtest.Change(t, d, "status", fmt.Sprintf(body, ""), fmt.Sprintf(body, given))); got != want {
			t.Errorf("%.40q: %s", text, got)
		}
		if got := crdtest.Message(crdtest.Change(t, d, "status", fmt.Sprintf(body, given), fmt.Sprintf(body, given))); got != "" {
			t.Errorf("%.40q that was there: %s", text, got)
		}
	}
}

// A pair of a key and its certificate is fine; of another a secret warns that is for one.
func TestWarningsOfPairs(t *testing.T) {
	one, _, key := certificate(t)
	warn := extend.Of(schema.GroupResource{Resource: "secrets"}).Warn
	pair := func(kind, cert string) map[string]any {
		data := map[string]any{"tls.crt": base64.StdEncoding.EncodeToString([]byte(cert)), "tls.key": base64.StdEncoding.EncodeToString([]byte(key))}
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "type": kind, "data": data}
	}
	if got := warn(pair("kubernetes.io/tls", one), nil); got != nil {
		t.Errorf("of a pair: %q", got)
	}
	if got := warn(pair("kubernetes.io/tls", "x"), nil); len(got) != 1 || got[0] != "tls: failed to find any PEM data in certificate input" {
		t.Errorf("of none: %q", got)
	}
	if got := warn(pair("Opaque", "x"), nil); got != nil {
		t.Errorf("of another type: %q", got)
	}
}
