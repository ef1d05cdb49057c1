package keyless_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless/keylesstest"
)

type tree = keylesstest.Tree

var usual = keyless.Identity{Issuer: keylesstest.Issuer, Subject: keylesstest.Subject}

func authority(t *testing.T, s *keylesstest.Sigstore, id keyless.Identity) *keyless.Authority {
	t.Helper()
	roots, err := keyless.ReadPEM([]byte(s.Certificates()), []byte(s.Logs()))
	if err != nil {
		t.Fatal(err)
	}
	a, err := keyless.NewAuthority(roots, id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// wantReason compares an error, "" for none, with the beginning of what is wanted.
func wantReason(t *testing.T, name string, err error, want string) {
	t.Helper()
	var e *signature.Error
	if want == "" && err != nil || want != "" && (!errors.As(err, &e) || !strings.HasPrefix(e.Error(), want)) {
		t.Errorf("%s: %v, want %s", name, err, want)
	}
}

// What an identity signed is told, by roots as PEM and by a trusted root; who is another
// identity, or signed by other roots, does not count.
func TestIdentities(t *testing.T) {
	s, content := keylesstest.New(t), []byte("content")
	demand := signature.Demand{Digest: signature.Digest(content)}
	bundle := s.JSON(s.Blob(content))
	mail := s.JSON(s.BlobBy(s.Certify("https://accounts.example.com", "anna@example.com", time.Now()), time.Now(), content))
	const other = "SignatureOfOtherIdentity: a bundle of it has "
	for _, c := range []struct {
		id     keyless.Identity
		bundle string
		want   string
	}{
		{usual, bundle, ""},
		{keyless.Identity{IssuerPattern: `https://token\..*`, SubjectPattern: `https://ci\.example\.com/team/[^/]+/release\.yaml@refs/heads/main`}, bundle, ""},
		{keyless.Identity{Issuer: "https://accounts.example.com", Subject: "anna@example.com"}, mail, ""},
		{keyless.Identity{Issuer: "https://token.example.com/", Subject: keylesstest.Subject}, bundle, other + `the issuer "https://token.example.com", not "https://token.example.com/"`},
		{keyless.Identity{Issuer: keylesstest.Issuer, Subject: "https://ci.example.com/team/tabs"}, bundle, other + `the subject "` + keylesstest.Subject},
		{keyless.Identity{IssuerPattern: "token", Subject: keylesstest.Subject}, bundle, other + "the issuer"},
		{keyless.Identity{Issuer: keylesstest.Issuer, SubjectPattern: "x|https://ci.example.com/team"}, bundle, other + "the subject"},
		{usual, mail, other + `the issuer "https://accounts.example.com"`},
	} {
		by, err := demand.Met([]signature.Signature{{Bundle: c.bundle}}, authority(t, s, c.id))
		wantReason(t, fmt.Sprint(c.id), err, c.want)
		if c.want == "" && (by.Key != "" || by.Issuer == "" || !strings.HasPrefix(c.bundle, "{") || by.Subject == "") {
			t.Errorf("%v: by %v", c.id, by)
		}
	}
	rooted := func(text string) *keyless.Authority {
		t.Helper()
		roots, err := keyless.ReadTrustedRoot([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		a, err := keyless.NewAuthority(roots, usual)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	byRoot := rooted(s.TrustedRoot())
	by, err := demand.Met([]signature.Signature{{Payload: content, Signature: []byte("x")}, {Bundle: mail}, {Bundle: bundle}}, byRoot)
	if err != nil || by != (signature.Signatory{Issuer: keylesstest.Issuer, Subject: keylesstest.Subject}) {
		t.Error(by, err)
	}
	_, err = demand.Met([]signature.Signature{{Bundle: bundle}}, rooted(s.TrustedRootWithCTLog()))
	wantReason(t, "a certificate that no log has", err, "SignatureUntrusted: the bundle of "+keylesstest.Subject+" is not to be believed: failed to verify signed certificate timestamp")
	_, err = demand.Met([]signature.Signature{{Bundle: bundle}}, authority(t, keylesstest.New(t), usual))
	wantReason(t, "other roots", err, "SignatureUntrusted: the bundle of "+keylesstest.Subject+" is not to be believed: failed to verify log inclusion")
	_, err = demand.Met([]signature.Signature{{Payload: content, Signature: []byte("x")}}, byRoot)
	wantReason(t, "no bundle", err, "SignatureUntrusted: none of its 1 signatures is valid")
}

// Identities and roots that nothing could satisfy, or that mean something else than they
// say, are refused.
func TestAuthoritiesThatAreRefused(t *testing.T) {
	s := keylesstest.New(t)
	roots, err := keyless.ReadPEM([]byte(s.Certificates()), []byte(s.Logs()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   keyless.Identity
		want string
	}{
		{keyless.Identity{Subject: "a"}, "the issuer: either the text or a pattern"},
		{keyless.Identity{Issuer: "a", IssuerPattern: "a", Subject: "a"}, "the issuer: either the text or a pattern"},
		{keyless.Identity{Issuer: "a"}, "the subject: either the text or a pattern"},
		{keyless.Identity{Issuer: "a", SubjectPattern: "("}, "the subject: error parsing regexp"},
		{keyless.Identity{Issuer: "a", SubjectPattern: "a)|(?:b"}, "the subject: error parsing regexp"},
		{keyless.Identity{Issuer: "a", SubjectPattern: strings.Repeat("a", 257)}, "the subject: the pattern has 257 bytes"},
	} {
		if _, err := keyless.NewAuthority(roots, c.id); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.id, err, c.want)
		}
	}
	if _, err := keyless.NewAuthority(roots, keyless.Identity{Issuer: "a", SubjectPattern: strings.Repeat("a", 256)}); err != nil {
		t.Errorf("a pattern as long as it may be: %v", err)
	}
	leaf := s.Certify("a", "b@example.com", time.Now()).PEM()
	_, between, _ := strings.Cut(s.Certificates(), "-----END CERTIFICATE-----\n")
	between, _ = strings.CutSuffix(s.Certificates(), between)
	for _, c := range []struct{ certificates, logs, want string }{
		{"", s.Logs(), "certificates: it is not PEM"},
		{s.Certificates() + leaf, s.Logs(), "certificates: number 3 is no authority's"},
		{between, s.Logs(), "certificates: none is a root's"},
		{strings.Repeat(s.Certificates(), 9), s.Logs(), "certificates: it has more than 16"},
		{s.Certificates(), "", "logs: it is not PEM"},
		{s.Certificates(), leaf, `logs: it has a "CERTIFICATE"`},
		{s.Certificates() + block("CERTIFICATE", []byte("x")), s.Logs(), "certificates: number 3: x509: "},
		{s.Certificates(), s.Logs() + block("PUBLIC KEY", []byte("x")), "logs: number 2: asn1: "},
		{s.Certificates(), block("PUBLIC KEY", ed25519Key(t)), "logs: number 1 is a ed25519.PublicKey; logs sign with ECDSA"},
	} {
		if _, err := keyless.ReadPEM([]byte(c.certificates), []byte(c.logs)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	for _, text := range []string{"", "{", "{}", `{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1"}`, without(t, s.TrustedRoot(), "tlogs"), without(t, s.TrustedRoot(), "certificateAuthorities")} {
		if _, err := keyless.ReadTrustedRoot([]byte(text)); err == nil {
			t.Errorf("%s is a trusted root", text)
		}
	}
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func ed25519Key(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// without is JSON without one of its fields, which it has.
func without(t *testing.T, text, name string) string {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil || all[name] == nil {
		t.Fatalf("%s has no %s: %v", text, name, err)
	}
	delete(all, name)
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
