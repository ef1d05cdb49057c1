package authn

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// between is an authority that another has signed.
func (i issuer) between(t *testing.T) issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: "between"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}, i.cert, key.Public(), i.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return issuer{cert, key}
}

// Clients and servers before this one are known by the bundles of files, whatever stands
// between the certificates there; who shows authorities in between is known by them.
func TestFilesOfAuthorities(t *testing.T) {
	ca := newIssuer(t, "ca")
	path := filepath.Join(t.TempDir(), "ca.crt")
	key := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")})
	bundle := slices.Concat([]byte("# ours\n"), key, ca.pem(), key, newIssuer(t, "other").pem())
	bad := bytes.Replace(ca.pem(), []byte("MII"), []byte("AAA"), 1)
	middle := ca.between(t)
	direct := ca.client(t, pkix.Name{CommonName: "ann"}, x509.ExtKeyUsageClientAuth)
	far := middle.client(t, pkix.Name{CommonName: "bob"}, x509.ExtKeyUsageClientAuth)
	for name, follow := range map[string]func(string, func(error)) (*Following, error){"client CA file ": FollowClientCAFile, "request header CA file ": FollowRequestHeaderCAFile} {
		if err := os.WriteFile(path, bundle, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := follow(path, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		for who, chain := range map[string][]*x509.Certificate{"ann": {direct}, "bob": {far, middle.cert}, "": {far}, "nobody": nil} {
			u, ok, err := f.Authenticate(t.Context(), Request{ClientCerts: chain})
			if known := who == "ann" || who == "bob"; ok != known || (err != nil) != (who == "") || ok && u.Name != who {
				t.Errorf("%s%q: %v, %t, %v", name, who, u, ok, err)
			}
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := follow(path, nil); err == nil || !strings.HasPrefix(err.Error(), name+path+": ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := follow(path+"-none", nil); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewClientCerts(append(bundle, "-----BEGIN CERTIFICATE-----\nhalf"...), nil); err == nil || err.Error() != "2 of 3 certificates in PEM form can be read" {
		t.Error(err)
	}
}

// All but who shows nothing are in the group of those who are known.
func TestNewUsers(t *testing.T) {
	if u := NewUser(User{Name: "ann", Groups: []string{"g"}}); !u.In("g") || !u.In(AllAuthenticated) {
		t.Errorf("%+v", u)
	}
	if u := NewUser(User{Name: Anonymous}); u.In(AllAuthenticated) {
		t.Errorf("%+v", u)
	}
	for _, r := range []Request{{}, {BearerToken: "x"}, {ClientCerts: make([]*x509.Certificate, 1)}} {
		if r.Empty() != (r.BearerToken == "" && r.ClientCerts == nil) {
			t.Errorf("%+v is empty: %t", r, r.Empty())
		}
	}
}
