package serviceaccount

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	rsa2 "crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

func pemOf(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// Another key signs, and tokens of those before are believed for as long as their
// keys are among those that verify.
func TestTokensOutliveTheKeyThatSignedThem(t *testing.T) {
	old, older := ecKey(t), rsaKey(t)
	oldDER, err := x509.MarshalPKIXPublicKey(old.public)
	file := pemOf(t, "PUBLIC KEY", oldDER, err)
	olderDER, err := x509.MarshalPKCS8PrivateKey(older.private)
	file += pemOf(t, "PRIVATE KEY", olderDER, err)
	verifiers, err := ParseVerifiers([]byte(file))
	if err != nil || len(verifiers) != 2 {
		t.Fatalf("%d keys, %v", len(verifiers), err)
	}
	now, _ := newTokens(t, ecKey(t))
	now.Verifiers = verifiers
	for name, k := range map[string]*Key{"old": old, "older": older, "stranger": ecKey(t)} {
		then, _ := newTokens(t, k)
		out, err := ask(then, `{}`)
		if err != nil {
			t.Fatal(err)
		}
		_, ok, err := now.Authenticate(context.Background(), authn.Request{BearerToken: out.Status.Token})
		if want := name != "stranger"; ok != want || (err == nil) != want {
			t.Errorf("%s: %v %v", name, ok, err)
		}
		nameless := jwt.Token{Method: k.method, Header: map[string]any{"alg": k.method.Alg()}, Claims: saying(then.read(out.Status.Token))}
		token, err := nameless.SignedString(k.private)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := now.Authenticate(context.Background(), authn.Request{BearerToken: token}); ok != (name != "stranger") {
			t.Errorf("%s, whose token names no key: %v %v", name, ok, err)
		}
	}
	// What verifies does not sign.
	out, err := ask(now, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if then, _ := newTokens(t, old); believed(then.Authenticate(context.Background(), authn.Request{BearerToken: out.Status.Token})) {
		t.Error("an old key signed")
	}
}

func saying(c claims, _ error) claims { return c }

func believed(_ *authn.User, ok bool, _ error) bool { return ok }

// Keys come in all forms that kube-apiserver reads.
func TestFormsOfKeysThatVerify(t *testing.T) {
	curve, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, rsa := newKey(t, curve), rsaKey(t)
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	for _, k := range []*Key{ec, rsa} {
		cert, certErr := x509.CreateCertificate(rand.Reader, tmpl, tmpl, k.public, k.private)
		public, publicErr := x509.MarshalPKIXPublicKey(k.public)
		private, privateErr := x509.MarshalPKCS8PrivateKey(k.private)
		forms := map[string]string{
			"certificate": pemOf(t, "CERTIFICATE", cert, certErr),
			"public":      pemOf(t, "PUBLIC KEY", public, publicErr),
			"private":     pemOf(t, "PRIVATE KEY", private, privateErr),
		}
		if k == ec {
			der, err := x509.MarshalECPrivateKey(curve)
			forms["openssl"] = pemOf(t, "EC PARAMETERS", []byte{6, 5, 43, 129, 4, 0, 34}, nil) + pemOf(t, "EC PRIVATE KEY", der, err)
		}
		if private, ok := k.private.(*rsa2.PrivateKey); ok {
			forms["PKCS #1"] = pemOf(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(private), nil)
			forms["public, of PKCS #1"] = pemOf(t, "RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&private.PublicKey), nil)
			if got, err := ParseKey([]byte(forms["PKCS #1"])); err != nil || got.id != k.id {
				t.Errorf("PKCS #1 signs: %+v, %v", got, err)
			}
		}
		for form, text := range forms {
			got, err := ParseVerifiers([]byte(text))
			if err != nil || len(got) != 1 || got[0].id != k.id || got[0].method != k.method {
				t.Errorf("%s %s: %+v %v", k.method.Alg(), form, got, err)
			}
		}
	}
	if k, err := ParseKey([]byte(pemOf(t, "EC PARAMETERS", []byte{6, 5, 43, 129, 4, 0, 34}, nil))); err == nil {
		t.Errorf("%+v of a curve alone", k)
	}
	for _, text := range []string{"", "x", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "-----BEGIN DH PARAMETERS-----\nAAAA\n-----END DH PARAMETERS-----\n"} {
		if got, err := ParseVerifiers([]byte(text)); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// The first issuer signs, all are believed, and a token is for all of them.
func TestIssuersAreReplaced(t *testing.T) {
	k := ecKey(t)
	before, _ := newTokens(t, k)
	after, _ := newTokens(t, k)
	after.Issuers = []string{"https://new", "https://issuer"}
	after.Audiences = after.Issuers
	old, err := ask(before, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := ask(after, `{}`)
	if err != nil || !reflect.DeepEqual(fresh.Spec.Audiences, after.Issuers) {
		t.Fatalf("%+v %v", fresh, err)
	}
	for _, token := range []string{old.Status.Token, fresh.Status.Token} {
		if _, ok, err := after.Authenticate(context.Background(), authn.Request{BearerToken: token}); !ok {
			t.Error(err)
		}
	}
	if c := saying(after.read(fresh.Status.Token)); c.Issuer != "https://new" {
		t.Errorf("signed by %s", c.Issuer)
	}
	if _, ok, err := before.Authenticate(context.Background(), authn.Request{BearerToken: fresh.Status.Token}); ok || err == nil || !strings.Contains(err.Error(), "another issuer") {
		t.Errorf("%v %v", ok, err)
	}
}

// The numbers and the words are kube-apiserver 1.36.3's.
func TestHowLongTokensLast(t *testing.T) {
	const ofPod = `"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"mine"}`
	for name, c := range map[string]struct {
		most   time.Duration
		extend bool
		body   string
		// says is what the reply says, ends what the token does, in seconds.
		says, ends int64
		warned     string
	}{
		"unbounded":                {0, true, `{"spec":{"expirationSeconds":4294967296}}`, 1 << 32, 1 << 32, ""},
		"bounded":                  {time.Hour, true, `{"spec":{"expirationSeconds":7200}}`, 3600, 3600, "requested expiration of 7200 seconds shortened to 3600 seconds"},
		"within the bound":         {time.Hour, true, `{"spec":{"expirationSeconds":3600}}`, 3600, 3600, ""},
		"a pod's":                  {0, true, `{"spec":{"expirationSeconds":3607,` + ofPod + `}}`, 3607, 31536000, ""},
		"a pod's, bounded":         {2 * time.Hour, true, `{"spec":{"expirationSeconds":3607,` + ofPod + `}}`, 3607, 31536000, ""},
		"a pod's, not extended":    {0, false, `{"spec":{"expirationSeconds":3607,` + ofPod + `}}`, 3607, 3607, ""},
		"a pod's, of another time": {0, true, `{"spec":{"expirationSeconds":3600,` + ofPod + `}}`, 3600, 3600, ""},
		"a pod's, for others":      {0, true, `{"spec":{"expirationSeconds":3607,"audiences":["https://issuer","vault"],` + ofPod + `}}`, 3607, 3607, ""},
		"nobody's":                 {0, true, `{"spec":{"expirationSeconds":3607}}`, 3607, 3607, ""},
	} {
		tokens, _ := newTokens(t, ecKey(t))
		tokens.MaxExpiration, tokens.ExtendExpiration = c.most, c.extend
		var warned []string
		r, err := Question{tokens, allowing{}}.Answer(context.Background(), resource.Target{Namespace: "default", Name: "robot"}, "application/json", []byte(c.body),
			resource.WriteOptions{Warn: func(text string) { warned = append(warned, text) }})
		out, ok := r.(*authenticationv1.TokenRequest)
		if err != nil || !ok {
			t.Fatalf("%s: %v", name, err)
		}
		said, err := tokens.read(out.Status.Token)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if *out.Spec.ExpirationSeconds != c.says || !out.Status.ExpirationTimestamp.Time.Equal(began.Add(time.Duration(c.says)*time.Second)) ||
			!said.ExpiresAt.Time.Equal(began.Add(time.Duration(c.ends)*time.Second)) || strings.Join(warned, ";") != c.warned {
			t.Errorf("%s: %d seconds to %s, the token to %s, warned %q", name, *out.Spec.ExpirationSeconds, out.Status.ExpirationTimestamp, said.ExpiresAt, warned)
		}
		after := said.About.WarnAfter
		if want := c.ends != c.says; (after != nil) != want || want && !after.Time.Equal(began.Add(3607*time.Second)) {
			t.Errorf("%s: to be replaced after %v", name, after)
		}
	}
}
