package authn

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/user"
)

func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.csv")
	file := "admintoken,admin,u1,system:masters\n" +
		"bobtoken,bob,u2,\"dev, ops\"\n" +
		"plain,carol,u3\n"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := FollowTokenFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]User{
		"admintoken": {Name: "admin", UID: "u1", Groups: []string{Masters, AllAuthenticated}},
		"bobtoken":   {Name: "bob", UID: "u2", Groups: []string{"dev", "ops", AllAuthenticated}},
		"plain":      {Name: "carol", UID: "u3", Groups: []string{AllAuthenticated}},
	} {
		got, ok, err := tokens.Authenticate(context.Background(), Request{BearerToken: token})
		if err != nil || !ok || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v %v %v, want %+v", token, got, ok, err, want)
		}
	}
	if _, ok, err := tokens.Authenticate(context.Background(), Request{BearerToken: "admintoke"}); ok || !errors.Is(err, ErrUnknownToken) {
		t.Errorf("unknown token: %v %v", ok, err)
	}
	if _, ok, err := tokens.Authenticate(context.Background(), Request{}); ok || err != nil {
		t.Errorf("no token: %v %v", ok, err)
	}
}

func TestTokenFile_MalformedNamesTheLineAndNotTheToken(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"too few columns":  {"ok,a,1\nsecret,b\n", "line 2: want at least 3 columns (token, user name, user uid), found 2"},
		"unquoted groups":  {"secret,b,1,g1,g2\n", "line 1: want at most 4 columns, found 5"},
		"empty token":      {"ok,a,1\n,b,2\n", "line 2: the token is empty"},
		"empty user":       {"secret,,1\n", "line 1: the user name is empty"},
		"token used twice": {"secret,a,1\n\nsecret,b,2\n", "line 3: the token was given to a user before"},
		"stray quote":      {"ok,a,1\nsecret,b,\"2\n", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseTokens(strings.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
	if _, err := FollowTokenFile(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add("a,b,c,\"d,e\"\n")
	f.Fuzz(func(t *testing.T, s string) {
		tokens, err := ParseTokens(strings.NewReader(s))
		if err == nil && tokens == nil {
			t.Fatal("neither tokens nor an error")
		}
		if err == nil {
			for _, u := range tokens.users {
				if u.Name == "" || !u.In(AllAuthenticated) {
					t.Fatalf("bad user %+v", u)
				}
			}
		}
	})
}

// issuer signs client certificates for tests.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newIssuer(t *testing.T, name string) issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return issuer{cert, key}
}

func (i issuer) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.cert.Raw})
}

func (i issuer) client(t *testing.T, subject pkix.Name, usage x509.ExtKeyUsage) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: subject, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, i.cert, key.Public(), i.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestClientCerts(t *testing.T) {
	ca, other := newIssuer(t, "ca"), newIssuer(t, "other")
	alice := pkix.Name{CommonName: "alice", Organization: []string{Masters}}
	now := time.Now()
	certs, err := NewClientCerts(ca.pem(), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	good := ca.client(t, alice, x509.ExtKeyUsageClientAuth)
	user, ok, err := certs.Authenticate(context.Background(), Request{ClientCerts: []*x509.Certificate{good}})
	if err != nil || !ok || user.Name != "alice" || !user.In(Masters) || !user.In(AllAuthenticated) {
		t.Fatalf("good certificate: %+v %v %v", user, ok, err)
	}
	for name, bad := range map[string]*x509.Certificate{
		"other authority": other.client(t, alice, x509.ExtKeyUsageClientAuth),
		"server usage":    ca.client(t, alice, x509.ExtKeyUsageServerAuth),
		"no common name":  ca.client(t, pkix.Name{Organization: []string{Masters}}, x509.ExtKeyUsageClientAuth),
	} {
		if u, ok, err := certs.Authenticate(context.Background(), Request{ClientCerts: []*x509.Certificate{bad}}); ok || err == nil {
			t.Errorf("%s: accepted as %+v", name, u)
		}
	}
	now = now.Add(2 * time.Hour)
	if _, ok, err := certs.Authenticate(context.Background(), Request{ClientCerts: []*x509.Certificate{good}}); ok || err == nil {
		t.Error("an expired certificate was accepted")
	}
	if _, err := NewClientCerts([]byte("nothing"), nil); err == nil {
		t.Error("a bundle without certificates was accepted")
	}
}

func TestUnion(t *testing.T) {
	a, b := NewTokens(), NewTokens()
	if err := a.Add("one", User{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Add("two", User{Name: "b"}); err != nil {
		t.Fatal(err)
	}
	both := Union{a, b}
	if u, ok, err := both.Authenticate(context.Background(), Request{BearerToken: "two"}); !ok || err != nil || u.Name != "b" {
		t.Errorf("second authenticator: %+v %v %v", u, ok, err)
	}
	if _, ok, err := both.Authenticate(context.Background(), Request{BearerToken: "three"}); ok || !errors.Is(err, ErrUnknownToken) || err.Error() != ErrUnknownToken.Error() {
		t.Errorf("unknown to all: %v %v", ok, err)
	}
	if _, ok, err := both.Authenticate(context.Background(), Request{}); ok || err != nil {
		t.Errorf("no credentials: %v %v", ok, err)
	}
}

func TestInfo(t *testing.T) {
	u := &User{Name: "alice", UID: "7", Groups: []string{"g"}, Extra: map[string][]string{"scopes": {"a", "b"}}}
	want := authenticationv1.UserInfo{Username: "alice", UID: "7", Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a", "b"}}}
	if got := u.Info(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := AnonymousUser().Info(); got.Username != Anonymous || got.Extra != nil {
		t.Errorf("%+v", got)
	}
	var known user.Info = u
	if known.GetName() != "alice" || known.GetUID() != "7" || known.GetGroups()[0] != "g" || known.GetExtra()["scopes"][1] != "b" {
		t.Errorf("%+v", known)
	}
}
