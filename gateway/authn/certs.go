package authn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// credentialID is the key under which Kubernetes records which certificate a
// user came with.
const credentialID = "authentication.kubernetes.io/credential-id"

// maxChain is how many certificates a client may show. Each that is called like who signed
// another is tried, for every request, and before anybody knows who asks.
const maxChain = 10

// uidAttribute is the attribute of a certificate's subject that is the user's uid.
var uidAttribute = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}

// ClientCerts authenticates TLS client certificates signed by one of a set of
// authorities: the common name is the user, each organization a group, and the uid that of
// Kubernetes' attribute.
type ClientCerts struct {
	roots *x509.CertPool
	now   func() time.Time
}

// NewClientCerts trusts the authorities in a PEM bundle. now tells the time
// for expiry; nil means the system's clock.
func NewClientCerts(bundle []byte, now func() time.Time) (*ClientCerts, error) {
	roots, count := x509.NewCertPool(), 0
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		roots.AddCert(c)
		count++
	}
	if named := bytes.Count(bundle, []byte("-----BEGIN CERTIFICATE-----")); named == 0 || named != count {
		return nil, fmt.Errorf("%d of %d certificates in PEM form can be read", count, named)
	}
	if now == nil {
		now = time.Now
	}
	return &ClientCerts{roots: roots, now: now}, nil
}

// FollowClientCAFile follows the PEM bundle of --client-ca-file.
func FollowClientCAFile(path string, failed func(error)) (*Following, error) {
	return Follow(path, func(bundle []byte) (Authenticator, error) {
		c, err := NewClientCerts(bundle, nil)
		if err != nil {
			return nil, fmt.Errorf("client CA file %s: %w", path, err)
		}
		return c, nil
	}, failed, nil)
}

// Authenticate implements [Authenticator].
func (c *ClientCerts) Authenticate(_ context.Context, r Request) (*User, bool, error) {
	if len(r.ClientCerts) == 0 {
		return nil, false, nil
	}
	if len(r.ClientCerts) > maxChain {
		return nil, false, fmt.Errorf("the chain of a client certificate has %d certificates, of %d at most", len(r.ClientCerts), maxChain)
	}
	leaf := r.ClientCerts[0]
	intermediates := x509.NewCertPool()
	for _, cert := range r.ClientCerts[1:] {
		intermediates.AddCert(cert)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots:         c.roots,
		Intermediates: intermediates,
		CurrentTime:   c.now(),
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, false, fmt.Errorf("client certificate of %q: %w", leaf.Subject.CommonName, err)
	}
	if leaf.Subject.CommonName == "" {
		return nil, false, errors.New("client certificate has no common name")
	}
	uid, err := uidOf(leaf)
	if err != nil {
		return nil, false, fmt.Errorf("client certificate of %q: %w", leaf.Subject.CommonName, err)
	}
	sum := sha256.Sum256(leaf.Raw)
	return &User{
		Name:   leaf.Subject.CommonName,
		UID:    uid,
		Groups: withAuthenticated(leaf.Subject.Organization),
		Extra:  map[string][]string{credentialID: {"X509SHA256=" + hex.EncodeToString(sum[:])}},
	}, true, nil
}

// uidOf is the uid that a certificate says; "" if it says none.
func uidOf(c *x509.Certificate) (string, error) {
	uid, said := "", false
	for _, attribute := range c.Subject.Names {
		if !attribute.Type.Equal(uidAttribute) {
			continue
		}
		text, ok := attribute.Value.(string)
		switch {
		case !ok || text == "":
			return "", errors.New("its uid is no text, or an empty one")
		case said:
			return "", errors.New("it has several uids")
		}
		uid, said = text, true
	}
	return uid, nil
}
