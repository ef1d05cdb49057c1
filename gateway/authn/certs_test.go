package authn

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"
)

// A chain that is longer than any has to be is refused before it is verified, as somebody
// unknown could have each of its certificates tried, for each request.
func TestLongChainsAreNotVerified(t *testing.T) {
	ca := newIssuer(t, "ca")
	certs, err := NewClientCerts(ca.pem(), nil)
	if err != nil {
		t.Fatal(err)
	}
	chain := []*x509.Certificate{ca.client(t, pkix.Name{CommonName: "alice"}, x509.ExtKeyUsageClientAuth)}
	for len(chain) < 10 {
		chain = append(chain, newIssuer(t, "ca").cert)
	}
	if u, ok, err := certs.Authenticate(t.Context(), Request{ClientCerts: chain}); !ok || u.Name != "alice" {
		t.Errorf("a chain of ten: %v, %v", u, err)
	}
	chain = append(chain, newIssuer(t, "ca").cert)
	if _, ok, err := certs.Authenticate(t.Context(), Request{ClientCerts: chain}); ok || err == nil || !strings.Contains(err.Error(), "11 certificates, of 10 at most") {
		t.Errorf("a chain of eleven: %t, %v", ok, err)
	}
}

// The uid is what the subject says of it, as in kube-apiserver; who says it in several
// ways, or says nothing by it, is nobody.
func TestUIDsOfCertificates(t *testing.T) {
	ca := newIssuer(t, "ca")
	certs, err := NewClientCerts(ca.pem(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		said []any
		uid  string
		ok   bool
	}{
		"none": {nil, "", true}, "one": {[]any{"u-1"}, "u-1", true}, "empty": {[]any{""}, "", false},
		"two": {[]any{"u-1", "u-2"}, "", false},
	} {
		subject := pkix.Name{CommonName: "alice"}
		for _, v := range c.said {
			subject.ExtraNames = append(subject.ExtraNames, pkix.AttributeTypeAndValue{Type: uidAttribute, Value: v})
		}
		u, ok, err := certs.Authenticate(t.Context(), Request{ClientCerts: []*x509.Certificate{ca.client(t, subject, x509.ExtKeyUsageClientAuth)}})
		if ok != c.ok || (err == nil) != c.ok || ok && u.UID != c.uid {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
}

// BenchmarkUnknownChain is what a request costs of somebody unknown whose certificates are
// all called like who signed the first.
func BenchmarkUnknownChain(b *testing.B) {
	key, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	made := func(serial int64, name string, authority bool) *x509.Certificate {
		at := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, IsCA: authority, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		}
		by := &x509.Certificate{Subject: pkix.Name{CommonName: "ca"}}
		der, err := x509.CreateCertificate(rand.Reader, at, by, key.Public(), key)
		if err != nil {
			b.Fatal(err)
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	chain := []*x509.Certificate{made(1, "somebody", false)}
	for n := int64(2); n < 200; n++ {
		chain = append(chain, made(n, "ca", true))
	}
	certs := &ClientCerts{roots: x509.NewCertPool(), now: time.Now}
	for b.Loop() {
		if _, ok, _ := certs.Authenticate(b.Context(), Request{ClientCerts: chain}); ok {
			b.Fatal("somebody")
		}
	}
}
