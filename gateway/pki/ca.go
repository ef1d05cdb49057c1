package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// Lifetimes. A certificate is renewed when a third of its life is left.
const (
	caLifetime      = 10 * 365 * 24 * time.Hour
	servingLifetime = 365 * 24 * time.Hour
	// backdate keeps a client whose clock is a little behind from refusing a
	// new certificate.
	backdate = 5 * time.Minute
)

// authority is the gateway's own certificate authority.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// openAuthority loads the authority kept in dir, or makes one.
func openAuthority(dir string, now time.Time) (*authority, error) {
	key, err := loadKey(filepath.Join(dir, "ca.key"))
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	a := &authority{key: key}
	path := filepath.Join(dir, "ca.crt")
	if a.cert = usable(path, key, now); a.cert != nil {
		return a, nil
	}
	// With the name and the key of the one before, what either signed is good for
	// who knows the other: nobody has to learn the new one at once.
	subject := pkix.Name{CommonName: fmt.Sprintf("wasmgate-ca@%d", now.Unix())}
	if before := certificate(path, key); before != nil {
		subject = before.Subject
	}
	tmpl := &x509.Certificate{
		Subject:               subject,
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(caLifetime),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if a.cert, err = issue(path, tmpl, tmpl, key, key); err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	return a, nil
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// loadKey reads a private key, or makes one. A key is always on disk before
// the certificate that belongs to it; a certificate of another key, left by a
// crash in between, is replaced (see usable).
func loadKey(path string) (*ecdsa.PrivateKey, error) {
	data, err := readOrCreate(path, func() ([]byte, error) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			return nil, err
		}
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
	})
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block; delete it to have a new key made", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: want an ECDSA key, found %T", path, parsed)
	}
	return key, nil
}

// usable returns the certificate in a file if it is for key and far enough
// from its end. Anything else is worth nothing and gets replaced.
func usable(path string, key *ecdsa.PrivateKey, now time.Time) *x509.Certificate {
	cert := certificate(path, key)
	if cert == nil || due(cert, now) {
		return nil
	}
	return cert
}

// certificate returns the certificate in a file if it is for key.
func certificate(path string, key *ecdsa.PrivateKey) *x509.Certificate {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !key.PublicKey.Equal(cert.PublicKey) {
		return nil
	}
	return cert
}

// due tells that a certificate has a third of its life or less left, or that
// its life has not begun (the clock was set back).
func due(cert *x509.Certificate, now time.Time) bool {
	third := cert.NotAfter.Sub(cert.NotBefore) / 3
	return now.Before(cert.NotBefore) || now.After(cert.NotAfter.Add(-third))
}

// issue signs a certificate for key and writes it to a file.
func issue(path string, tmpl, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	tmpl.SerialNumber = serial
	spki, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256(spki)
	tmpl.SubjectKeyId = id[:20]
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return cert, WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
