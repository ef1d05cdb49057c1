package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
)

// The bounds of RSA keys, in bits: smaller ones are weak, larger ones slow.
const minRSA, maxRSA = 2048, 8192

// PublicKey verifies signatures: ECDSA P-256 and RSA (PKCS #1 v1.5) with SHA-256, or
// Ed25519.
type PublicKey struct {
	key crypto.PublicKey
	id  string
}

// ID names the key: the beginning of the SHA-256 of its DER.
func (k PublicKey) ID() string { return k.id }

// Made tells that a signature is by the key.
func (k PublicKey) Made(s Signature) bool { return k.verifies(s.Payload, s.Signature) }

// ParsePublicKey reads PEM with one public key.
func ParsePublicKey(text []byte) (PublicKey, error) {
	block, rest := pem.Decode(text)
	if block == nil {
		return PublicKey{}, errors.New("it is not PEM")
	}
	if more, _ := pem.Decode(rest); more != nil {
		return PublicKey{}, errors.New("it has more than one key")
	}
	if block.Type != "PUBLIC KEY" {
		return PublicKey{}, fmt.Errorf("it is a %q, not a PUBLIC KEY", block.Type)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return PublicKey{}, err
	}
	return publicKey(key)
}

func publicKey(key crypto.PublicKey) (PublicKey, error) {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return PublicKey{}, fmt.Errorf("it is an ECDSA key of the curve %s, not P-256", k.Curve.Params().Name)
		}
	case ed25519.PublicKey:
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSA || bits > maxRSA {
			return PublicKey{}, fmt.Errorf("it is an RSA key of %d bits, not %d to %d", bits, minRSA, maxRSA)
		}
	default:
		return PublicKey{}, fmt.Errorf("it is a %T; ECDSA P-256, Ed25519 and RSA can be used", key)
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return PublicKey{}, err
	}
	sum := sha256.Sum256(der)
	return PublicKey{key, hex.EncodeToString(sum[:8])}, nil
}

func (k PublicKey) verifies(message, signature []byte) bool {
	if key, whole := k.key.(ed25519.PublicKey); whole {
		return ed25519.Verify(key, message, signature)
	}
	hashed := sha256.Sum256(message)
	return k.verifiesDigest(hashed[:], signature)
}

// verifiesDigest is verifies of a message of which only the SHA-256 is known. No signature
// by Ed25519 can be verified so.
func (k PublicKey) verifiesDigest(hashed, signature []byte) bool {
	switch key := k.key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, hashed, signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, hashed, signature) == nil
	}
	return false
}

// PrivateKey signs.
type PrivateKey struct {
	signer crypto.Signer
	public PublicKey
}

// Public is the key that verifies.
func (k PrivateKey) Public() PublicKey { return k.public }

// ParsePrivateKey reads PEM with one private key that is not encrypted.
func ParsePrivateKey(text []byte) (PrivateKey, error) {
	block, rest := pem.Decode(text)
	if block != nil && block.Type == "EC PARAMETERS" { // which openssl writes before the key
		block, _ = pem.Decode(rest)
	}
	if block == nil {
		return PrivateKey{}, errors.New("it is not PEM")
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "ENCRYPTED PRIVATE KEY":
		err = fmt.Errorf("it is a %q, of which only cosign's form is read; \"openssl pkey\" decrypts it", block.Type)
	default:
		err = fmt.Errorf("it is a %q, not a PRIVATE KEY", block.Type)
	}
	if err != nil {
		return PrivateKey{}, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return PrivateKey{}, fmt.Errorf("it is a %T, which does not sign", key)
	}
	public, err := publicKey(signer.Public())
	return PrivateKey{signer, public}, err
}

// Sign signs any text; [Sign] signs modules.
func (k PrivateKey) Sign(message []byte) ([]byte, error) {
	if _, whole := k.signer.(ed25519.PrivateKey); whole {
		return k.signer.Sign(rand.Reader, message, crypto.Hash(0))
	}
	hashed := sha256.Sum256(message)
	return k.signer.Sign(rand.Reader, hashed[:], crypto.SHA256)
}

// Generate makes a key, ECDSA P-256, as PEM.
func Generate() (private, public []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	spki, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki}), nil
}
