package pki

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"path/filepath"
	"time"
)

// FrontProxy returns the certificate by which the gateway proves who it is to servers
// behind it, from an authority for nothing else. Both are kept in a folder of dir; what
// verifies the certificate is its Trust. now tells the time; nil means the system's clock.
func FrontProxy(dir string, now func() time.Time) (*Serving, error) {
	if now == nil {
		now = time.Now
	}
	dir = filepath.Join(dir, "front-proxy")
	if err := openFolder(dir); err != nil {
		return nil, fmt.Errorf("front proxy: %w", err)
	}
	ca, err := openAuthority(dir, now())
	if err != nil {
		return nil, fmt.Errorf("front proxy: %w", err)
	}
	key, err := loadKey(filepath.Join(dir, "client.key"))
	if err != nil {
		return nil, fmt.Errorf("front proxy: %w", err)
	}
	s := &Serving{now: now, trust: ca.pem()}
	s.next = func(now time.Time, current *tls.Certificate) (*tls.Certificate, error) {
		if current != nil && !due(current.Leaf, now) {
			return current, nil
		}
		return ca.frontProxy(filepath.Join(dir, "client.crt"), key, now)
	}
	_, err = s.GetCertificate(nil)
	return s, err
}

// frontProxy issues the certificate, or finds the one that is there.
func (a *authority) frontProxy(path string, key *ecdsa.PrivateKey, now time.Time) (*tls.Certificate, error) {
	cert := usable(path, key, now)
	if cert == nil || cert.CheckSignatureFrom(a.cert) != nil {
		tmpl := &x509.Certificate{
			Subject: pkix.Name{CommonName: "front-proxy-client"}, NotBefore: now.Add(-backdate), NotAfter: now.Add(servingLifetime),
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}
		var err error
		if cert, err = issue(path, tmpl, a.cert, key, a.key); err != nil {
			return nil, fmt.Errorf("front proxy: %w", err)
		}
	}
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}, nil
}
