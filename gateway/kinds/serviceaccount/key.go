package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

// Verifier is a public key that verifies tokens.
type Verifier struct {
	public crypto.PublicKey
	method jwt.SigningMethod
	// id names the key in the heads of tokens.
	id string
}

// Key signs tokens, and verifies them.
type Key struct {
	Verifier
	private crypto.Signer
}

// leastRSA is the size of an RSA key, in bits, below which none is taken.
const leastRSA = 2048

var errNoPEM = errors.New("it is no PEM")

// ParseKey reads a private key in PEM: RSA, or EC over P-256, P-384 or P-521.
func ParseKey(text []byte) (*Key, error) {
	block, _ := pem.Decode(text)
	for block != nil && block.Type == "EC PARAMETERS" { // openssl writes the curve first
		block, text = pem.Decode(text)
	}
	if block == nil {
		return nil, errNoPEM
	}
	private, err := parsePrivate(block)
	if err != nil {
		return nil, err
	}
	signer, ok := private.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a key of type %T cannot sign tokens", private)
	}
	v, err := newVerifier(signer.Public())
	return &Key{v, signer}, err
}

// ParseVerifiers reads all keys in PEM that there are: public keys, what
// certificates and private keys say of them. It takes the same as ParseKey.
func ParseVerifiers(text []byte) ([]Verifier, error) {
	var out []Verifier
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type == "EC PARAMETERS" {
			continue
		}
		public, err := parsePublic(block)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", len(out)+1, err)
		}
		v, err := newVerifier(public)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", len(out)+1, err)
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, errNoPEM
	}
	return out, nil
}

func parsePrivate(block *pem.Block) (any, error) {
	switch block.Type {
	case "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		return x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	return x509.ParsePKCS8PrivateKey(block.Bytes)
}

func parsePublic(block *pem.Block) (crypto.PublicKey, error) {
	switch block.Type {
	case "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		return cert.PublicKey, nil
	}
	private, err := parsePrivate(block)
	if err != nil {
		return nil, err
	}
	if signer, ok := private.(crypto.Signer); ok {
		return signer.Public(), nil
	}
	return private, nil
}

// curves are the algorithms by the size of the curve, in bits.
var curves = map[int]jwt.SigningMethod{256: jwt.SigningMethodES256, 384: jwt.SigningMethodES384, 521: jwt.SigningMethodES512}

func newVerifier(public crypto.PublicKey) (Verifier, error) {
	v := Verifier{public: public}
	switch p := public.(type) {
	case *ecdsa.PublicKey:
		if v.method = curves[p.Params().BitSize]; v.method == nil {
			return v, errors.New("an EC key has to be of the curve P-256, P-384 or P-521")
		}
	case *rsa.PublicKey:
		if p.N.BitLen() < leastRSA {
			return v, fmt.Errorf("an RSA key has to have %d bits at least", leastRSA)
		}
		v.method = jwt.SigningMethodRS256
	default:
		return v, fmt.Errorf("a key of type %T cannot verify tokens", public)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return v, err
	}
	sum := sha256.Sum256(der)
	v.id = base64.RawURLEncoding.EncodeToString(sum[:])
	return v, nil
}
