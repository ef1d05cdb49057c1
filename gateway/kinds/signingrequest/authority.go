package signingrequest

import (
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// Authority signs certificates of clients.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// ReadAuthority reads one certificate and its key from files in PEM.
func ReadAuthority(certFile, keyFile string) (*Authority, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	if n := len(pair.Certificate); n != 1 {
		return nil, fmt.Errorf("%s has %d certificates and not one", certFile, n)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, fmt.Errorf("%s is not the certificate of an authority", certFile)
	}
	return &Authority{pair.Leaf, key}, nil
}

// A certificate counts a little before it is made, for clocks that are behind; one that
// lasts long ends as much earlier, as kube-controller-manager has it.
const (
	backdated = 5 * time.Minute
	short     = 8 * time.Hour
)

// sign makes the certificate of a client, as PEM: what is asked for, but for extensions
// other than names.
func (a *Authority) sign(asked *x509.CertificateRequest, usage x509.KeyUsage, lasts time.Duration, now time.Time) ([]byte, error) {
	if !now.Before(a.certificate.NotAfter) {
		return nil, fmt.Errorf("the authority of clients has expired: NotAfter=%v", a.certificate.NotAfter)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, err
	}
	end := now.Add(lasts)
	if lasts >= short {
		end = end.Add(-backdated)
	}
	if end.After(a.certificate.NotAfter) {
		end = a.certificate.NotAfter
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: asked.Subject, NotBefore: now.Add(-backdated), NotAfter: end,
		DNSNames: asked.DNSNames, IPAddresses: asked.IPAddresses, EmailAddresses: asked.EmailAddresses, URIs: asked.URIs,
		KeyUsage: usage, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true,
	}, a.certificate, asked.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
