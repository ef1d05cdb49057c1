// Package keylesstest owns an authority for certificates and a log, such as Sigstore's, and
// signatures that go by them. It exists for tests only.
//
// It must not know who verifies them.
package keylesstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"
)

// The identity that signs if a test does not say.
const (
	Issuer  = "https://token.example.com"
	Subject = "https://ci.example.com/team/tabs/release.yaml@refs/heads/main"
)

// Tree is a JSON object.
type Tree = map[string]any

// Sigstore has an authority for certificates, with one between, and a log.
type Sigstore struct {
	tb            testing.TB
	root, between authority
	log           *ecdsa.PrivateKey
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New makes one.
func New(tb testing.TB) *Sigstore {
	tb.Helper()
	s := &Sigstore{tb: tb, log: newKey(tb)}
	s.root = s.authority("root", authority{})
	s.between = s.authority("between", s.root)
	return s
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// authority makes one that another vouches for, or itself.
func (s *Sigstore) authority(name string, by authority) authority {
	s.tb.Helper()
	key := newKey(s.tb)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name, Organization: []string{"keylesstest"}},
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(9, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	if by.cert == nil {
		by = authority{template, key}
	}
	return authority{s.certificate(template, by, key), key}
}

func (s *Sigstore) certificate(template *x509.Certificate, by authority, key *ecdsa.PrivateKey) *x509.Certificate {
	s.tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, key.Public(), by.key)
	if err != nil {
		s.tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		s.tb.Fatal(err)
	}
	return cert
}

func certPEM(certs ...*x509.Certificate) string {
	var out strings.Builder
	for _, c := range certs {
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
	}
	return out.String()
}

// Certificates are those of the authorities, PEM.
func (s *Sigstore) Certificates() string { return certPEM(s.between.cert, s.root.cert) }

// Logs is the key of the log, PEM.
func (s *Sigstore) Logs() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: s.logDER()}))
}

func (s *Sigstore) logDER() []byte {
	s.tb.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.log.Public())
	if err != nil {
		s.tb.Fatal(err)
	}
	return der
}

func (s *Sigstore) logID() []byte { id := sha256.Sum256(s.logDER()); return id[:] }

// TrustedRoot is the text of a trusted_root.json.
func (s *Sigstore) TrustedRoot() string { return s.JSON(s.trustedRoot()) }

// TrustedRootWithCTLog is one that has a log of certificates, too. No certificate is in it.
func (s *Sigstore) TrustedRootWithCTLog() string {
	root := s.trustedRoot()
	root["ctlogs"] = New(s.tb).trustedRoot()["tlogs"]
	return s.JSON(root)
}

func (s *Sigstore) trustedRoot() Tree {
	valid := Tree{"start": "2020-01-01T00:00:00Z"}
	return Tree{
		"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
		"tlogs": []any{Tree{
			"baseUrl": "https://log.example.com", "hashAlgorithm": "SHA2_256", "logId": Tree{"keyId": Base64(s.logID())},
			"publicKey": Tree{"rawBytes": Base64(s.logDER()), "keyDetails": "PKIX_ECDSA_P256_SHA_256", "validFor": valid},
		}},
		"certificateAuthorities": []any{Tree{
			"subject": Tree{"organization": "keylesstest", "commonName": "root"}, "uri": "https://ca.example.com", "validFor": valid,
			"certChain": Tree{"certificates": []any{Tree{"rawBytes": Base64(s.between.cert.Raw)}, Tree{"rawBytes": Base64(s.root.cert.Raw)}}},
		}},
	}
}

// Leaf is a key with a certificate, for one signature.
type Leaf struct {
	Cert *x509.Certificate
	Key  *ecdsa.PrivateKey
}

// PEM is the certificate.
func (l Leaf) PEM() string { return certPEM(l.Cert) }

// Certify makes one that is good for ten minutes from a time on.
func (s *Sigstore) Certify(issuer, subject string, from time.Time) Leaf {
	s.tb.Helper()
	key := newKey(s.tb)
	named, err := asn1.MarshalWithParams(issuer, "utf8")
	if err != nil {
		s.tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: from, NotAfter: from.Add(10 * time.Minute),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}, Value: named}},
	}
	if at, err := url.Parse(subject); err == nil && at.Scheme != "" {
		template.URIs = []*url.URL{at}
	} else {
		template.EmailAddresses = []string{subject}
	}
	return Leaf{s.certificate(template, s.between, key), key}
}

// Base64 is that of bytes.
func Base64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// JSON is that of a value.
func (s *Sigstore) JSON(v any) string {
	s.tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		s.tb.Fatal(err)
	}
	return string(text)
}

// sign signs bytes, or fails the test.
func (s *Sigstore) sign(key *ecdsa.PrivateKey, message []byte) []byte {
	s.tb.Helper()
	sum := sha256.Sum256(message)
	signed, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	if err != nil {
		s.tb.Fatal(err)
	}
	return signed
}
