package signature

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// byKey is the part of a bundle that a key makes: a signature of bytes that are elsewhere,
// or an envelope. Nothing of it is verified.
type byKey struct {
	Message  *message  `json:"messageSignature"`
	Envelope *envelope `json:"dsseEnvelope"`
	Material struct {
		// Key is what the bundle says of the key: a hint, which nobody signed.
		Key *struct{} `json:"publicKey"`
	} `json:"verificationMaterial"`
}

// message is a signature of bytes of which the bundle has the digest.
type message struct {
	Digest struct {
		Algorithm string `json:"algorithm"`
		Digest    []byte `json:"digest"`
	} `json:"messageDigest"`
	Signature []byte `json:"signature"`
}

// envelope is content of a type, as DSSE has it.
type envelope struct {
	PayloadType string `json:"payloadType"`
	Payload     []byte `json:"payload"`
	Signatures  []struct {
		Sig []byte `json:"sig"`
	} `json:"signatures"`
}

// Claim implements [Authority]. Of a bundle what the key signed counts; a key is trusted
// whenever it signed, so what logs say does not matter, nor which key the bundle names.
func (k PublicKey) Claim(s Signature) (Claim, error) {
	by := Signatory{Key: k.id}
	if len(s.Payload) > maxPayload {
		return Claim{}, &Error{Reason: Untrusted}
	}
	if s.Bundle == "" {
		if !k.Made(s) {
			return Claim{}, &Error{Reason: Untrusted}
		}
		return Claim{By: by, Payload: s.Payload}, nil
	}
	var b byKey
	if len(s.Bundle) > MaxBundle || json.Unmarshal([]byte(s.Bundle), &b) != nil {
		return Claim{}, &Error{BundleMalformed, "a bundle cannot be read"}
	}
	if b.Message != nil && b.Envelope == nil {
		return k.claimMessage(&b, s.Payload)
	}
	e := b.Envelope
	if e == nil || b.Message != nil || len(e.Signatures) != 1 || !k.verifies(e.signed(), e.Signatures[0].Sig) {
		return Claim{}, &Error{Reason: Untrusted}
	}
	statement, err := ReadStatement(e.PayloadType, e.Payload)
	return Claim{By: by, Statement: statement}, err
}

// claimMessage is what a bundle claims that has a signature of a payload, or without one of
// the module itself, by its digest.
func (k PublicKey) claimMessage(b *byKey, payload []byte) (Claim, error) {
	m := b.Message
	if payload != nil {
		if !k.verifies(payload, m.Signature) {
			return Claim{}, &Error{Reason: Untrusted}
		}
		return Claim{By: Signatory{Key: k.id}, Payload: payload}, nil
	}
	if _, whole := k.key.(ed25519.PublicKey); whole && b.Material.Key != nil {
		return Claim{}, &Error{Untrusted, "a bundle has a signature of the module itself, which an Ed25519 key does not verify by a digest"}
	}
	if m.Digest.Algorithm != "SHA2_256" || len(m.Digest.Digest) != sha256.Size || !k.verifiesDigest(m.Digest.Digest, m.Signature) {
		return Claim{}, &Error{Reason: Untrusted}
	}
	return Claim{By: Signatory{Key: k.id}, Digest: "sha256:" + hex.EncodeToString(m.Digest.Digest)}, nil
}

// signed is what the signature of an envelope is over.
func (e *envelope) signed() []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(e.PayloadType), e.PayloadType, len(e.Payload), e.Payload)
}
