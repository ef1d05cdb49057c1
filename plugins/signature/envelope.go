package signature

import (
	"encoding/json"
	"fmt"
)

// envelope is the part of a bundle that a key makes: content of a type, as DSSE has it.
type envelope struct {
	PayloadType string `json:"payloadType"`
	Payload     []byte `json:"payload"`
	Signatures  []struct {
		Sig []byte `json:"sig"`
	} `json:"signatures"`
}

// Claim implements [Authority]. Of a bundle the envelope counts, which the key has to have
// signed; a key is trusted whenever it signed, so what logs say does not matter.
func (k PublicKey) Claim(s Signature) (Claim, error) {
	by := Signatory{Key: k.id}
	if s.Bundle == "" {
		if len(s.Payload) > maxPayload || !k.Made(s) {
			return Claim{}, &Error{Reason: Untrusted}
		}
		return Claim{By: by, Payload: s.Payload}, nil
	}
	var bundle struct {
		Envelope *envelope `json:"dsseEnvelope"`
	}
	if len(s.Bundle) > MaxBundle || json.Unmarshal([]byte(s.Bundle), &bundle) != nil {
		return Claim{}, &Error{BundleMalformed, "a bundle cannot be read"}
	}
	e := bundle.Envelope
	if e == nil || len(e.Signatures) != 1 || !k.verifies(e.signed(), e.Signatures[0].Sig) {
		return Claim{}, &Error{Reason: Untrusted}
	}
	statement, err := ReadStatement(e.PayloadType, e.Payload)
	return Claim{By: by, Statement: statement}, err
}

// signed is what the signature of an envelope is over.
func (e *envelope) signed() []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(e.PayloadType), e.PayloadType, len(e.Payload), e.Payload)
}
