// Package serviceaccount owns the tokens of ServiceAccounts: what they say, how
// they are signed and asked for, and whom they show a client to be.
//
// A token is believed while it has not expired and the account, and what else it
// is bound to, is there with the same uid. The package must not know what an
// account may do, nor where the key is kept.
package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

// Key signs and verifies tokens, by ES256 or RS256.
type Key struct {
	private crypto.Signer
	method  jwt.SigningMethod
	id      string
}

// leastRSA is the size of an RSA key, in bits, below which none is taken.
const leastRSA = 2048

// ParseKey reads a private key in PEM: EC over P-256, or RSA.
func ParseKey(text []byte) (*Key, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it is no PEM")
	}
	var private any
	var err error
	switch block.Type {
	case "EC PRIVATE KEY":
		private, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		private, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		private, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, err
	}
	k := &Key{}
	switch p := private.(type) {
	case *ecdsa.PrivateKey:
		if p.Curve != elliptic.P256() {
			return nil, errors.New("an EC key has to be of the curve P-256")
		}
		k.private, k.method = p, jwt.SigningMethodES256
	case *rsa.PrivateKey:
		if p.N.BitLen() < leastRSA {
			return nil, fmt.Errorf("an RSA key has to have %d bits at least", leastRSA)
		}
		k.private, k.method = p, jwt.SigningMethodRS256
	default:
		return nil, fmt.Errorf("a key of type %T cannot sign tokens", private)
	}
	der, err := x509.MarshalPKIXPublicKey(k.private.Public())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(der)
	k.id = base64.RawURLEncoding.EncodeToString(sum[:])
	return k, nil
}
