package extend

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// mostRSA is the size of an RSA key, in bits, above which no signature is checked: that
// takes longer than a request should.
const mostRSA = 16384

// ParseSigningRequest reads the PKCS #10 request in a CertificateSigningRequest, and checks
// that whoever made it has the key.
func ParseSigningRequest(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	r, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	if key, ok := r.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() > mostRSA {
		return nil, fmt.Errorf("an RSA key must not have more than %d bits", mostRSA)
	}
	return r, r.CheckSignature()
}

// signingMistakes are those in what a signing request asks for and in what it was given,
// unless that was so before.
func signingMistakes(obj, old map[string]any) (errs field.ErrorList) {
	said := object.TextAt(object.Child(obj, "spec"), "request")
	if said != "" && said != object.TextAt(object.Child(old, "spec"), "request") {
		text, _ := base64.StdEncoding.DecodeString(said) // the schema has checked that
		if _, err := ParseSigningRequest(text); err != nil {
			errs = append(errs, field.Invalid(field.NewPath("spec", "request"), said, err.Error()))
		}
	}
	given := object.TextAt(object.Child(obj, "status"), "certificate")
	if given != "" && given != object.TextAt(object.Child(old, "status"), "certificate") {
		text, _ := base64.StdEncoding.DecodeString(given)
		if err := certificates(text); err != nil {
			errs = append(errs, field.Invalid(field.NewPath("status", "certificate"), "<certificate data>", err.Error()))
		}
	}
	return errs
}

// certificates tells why a text is not certificates in PEM and nothing else.
func certificates(text []byte) error {
	blocks := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) != 0 {
			return errors.New("no PEM block headers are permitted")
		}
		found, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		blocks++
	}
	if blocks == 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}
