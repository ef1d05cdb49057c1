// Package keyless owns signatures by people and builds that have no key of their own:
// Sigstore's bundles, in which a certificate tells who signed, for minutes only, and a log
// that it was then. They are verified without a network.
//
// It must not know which roots and identities are trusted, nor for what.
package keyless

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
)

// maxRoots bounds how many certificates, or keys of logs, there are.
const maxRoots = 16

// Roots are whom certificates and logs have to be of.
type Roots struct{ verifier *verify.Verifier }

// ReadTrustedRoot reads Sigstore's trusted_root.json. Where it has logs of certificates, a
// certificate has to be in one.
func ReadTrustedRoot(text []byte) (*Roots, error) {
	r, err := root.NewTrustedRootFromJSON(text)
	if err != nil {
		return nil, err
	}
	if len(r.FulcioCertificateAuthorities()) == 0 || len(r.RekorLogs()) == 0 {
		return nil, errors.New("it has no authority for certificates, or no log")
	}
	return newRoots(r)
}

// ReadPEM reads certificates, of which those that signed themselves are roots and the others
// intermediate, and public keys of logs.
func ReadPEM(certificates, logs []byte) (*Roots, error) {
	material := &given{logs: map[string]*root.TransparencyLog{}}
	if err := material.readCertificates(certificates); err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	if err := material.readLogs(logs); err != nil {
		return nil, fmt.Errorf("logs: %w", err)
	}
	return newRoots(material)
}

func newRoots(material root.TrustedMaterial) (*Roots, error) {
	options := []verify.VerifierOption{verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1)}
	if len(material.CTLogs()) > 0 {
		options = append(options, verify.WithSignedCertificateTimestamps(1))
	}
	v, err := verify.NewVerifier(material, options...)
	return &Roots{v}, err
}

// given is what was read of PEM.
type given struct {
	root.BaseTrustedMaterial
	authorities []root.CertificateAuthority
	logs        map[string]*root.TransparencyLog
}

// FulcioCertificateAuthorities implements [root.TrustedMaterial].
func (g *given) FulcioCertificateAuthorities() []root.CertificateAuthority { return g.authorities }

// RekorLogs implements [root.TrustedMaterial].
func (g *given) RekorLogs() map[string]*root.TransparencyLog { return g.logs }

func (g *given) readCertificates(text []byte) error {
	ders, err := blocks(text, "CERTIFICATE")
	if err != nil {
		return err
	}
	var roots, between []*x509.Certificate
	for i, der := range ders {
		c, err := x509.ParseCertificate(der)
		switch {
		case err != nil:
			return fmt.Errorf("number %d: %w", i+1, err)
		case !c.IsCA:
			return fmt.Errorf("number %d is no authority's", i+1)
		case c.CheckSignatureFrom(c) == nil:
			roots = append(roots, c)
		default:
			between = append(between, c)
		}
	}
	if len(roots) == 0 {
		return errors.New("none is a root's, which is signed by itself")
	}
	for _, c := range roots {
		g.authorities = append(g.authorities, &root.FulcioCertificateAuthority{Root: c, Intermediates: between})
	}
	return nil
}

func (g *given) readLogs(text []byte) error {
	ders, err := blocks(text, "PUBLIC KEY")
	if err != nil {
		return err
	}
	for i, der := range ders {
		key, err := x509.ParsePKIXPublicKey(der)
		if err != nil {
			return fmt.Errorf("number %d: %w", i+1, err)
		}
		if _, ok := key.(*ecdsa.PublicKey); !ok {
			return fmt.Errorf("number %d is a %T; logs sign with ECDSA, those that do not can be named in a trusted root", i+1, key)
		}
		id := sha256.Sum256(der)
		g.logs[hex.EncodeToString(id[:])] = &root.TransparencyLog{
			ID: id[:], PublicKey: key, HashFunc: crypto.SHA256, SignatureHashFunc: crypto.SHA256,
			ValidityPeriodStart: time.Unix(0, 0), // the library wants one
		}
	}
	return nil
}

// blocks are what PEM has, all of one type.
func blocks(text []byte, kind string) (all [][]byte, err error) {
	for {
		block, rest := pem.Decode(text)
		switch {
		case block == nil && len(all) == 0:
			return nil, errors.New("it is not PEM")
		case block == nil:
			return all, nil
		case block.Type != kind:
			return nil, fmt.Errorf("it has a %q, not only a %s", block.Type, kind)
		case len(all) == maxRoots:
			return nil, fmt.Errorf("it has more than %d", maxRoots)
		}
		all, text = append(all, block.Bytes), rest
	}
}
