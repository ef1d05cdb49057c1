package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Type is critical.type of what is signed of a module. Signatures of container images
// have another: who signs these does not vouch for modules.
const Type = "wasmgate module signature"

// maxPayload bounds what is read of what was signed.
const maxPayload = 16 << 10

// Payload is what is signed, in the form of the "simple signing" of container images,
// which is cosign's, too.
type Payload struct {
	Critical Critical `json:"critical"`
	// Optional is whatever else whoever signed says. Nothing depends on it.
	Optional map[string]any `json:"optional"`
}

// Critical is what a signature vouches for.
type Critical struct {
	Identity Identity `json:"identity"`
	Image    Image    `json:"image"`
	// Type is [Type].
	Type string `json:"type"`
}

// Identity is whom it is for.
type Identity struct {
	// Reference is the name of a WasmModule, "" for any.
	Reference string `json:"docker-reference"`
}

// Image is what was signed.
type Image struct {
	// Digest is that of the bytes before the section.
	Digest string `json:"docker-manifest-digest"`
}

// Digest is that of bytes: "sha256:" and hex.
func Digest(signed []byte) string {
	sum := sha256.Sum256(signed)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Sign signs bytes for the modules of a name, "" for any.
func Sign(signed []byte, name string, key PrivateKey) (Signature, error) {
	payload, err := json.Marshal(Payload{Critical: Critical{Identity{name}, Image{Digest(signed)}, Type}})
	if err != nil {
		return Signature{}, err
	}
	s, err := key.Sign(payload)
	return Signature{Payload: payload, Signature: s}, err
}

// says is what is wrong with a payload that a trusted key signed.
func says(payload []byte, digest, name string) error {
	var p Payload
	if err := json.Unmarshal(payload, &p); err != nil {
		return &Error{PayloadMalformed, "what was signed cannot be read: " + err.Error()}
	}
	is := p.Critical
	switch {
	case is.Type != Type:
		return &Error{PayloadMalformed, fmt.Sprintf("what was signed has the critical.type %q, not %q", is.Type, Type)}
	case is.Image.Digest != digest:
		return &Error{OfOtherContent, fmt.Sprintf("the signature is of %q, and this is %s", is.Image.Digest, digest)}
	case is.Identity.Reference != "" && is.Identity.Reference != name:
		return &Error{ForOtherModule, fmt.Sprintf("the signature is for the module %q, not %q", is.Identity.Reference, name)}
	}
	return nil
}
