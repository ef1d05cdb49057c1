package signature

import (
	"encoding/json"
	"fmt"
)

// ImageType is critical.type of what is signed of an image, as cosign has it.
const ImageType = "cosign container image signature"

// VerifyImage finds one of keys that signed the image whose manifest has a digest. It
// returns the place of the key. What name the image was signed under does not matter. The
// error is an *[Error].
func VerifyImage(digest string, all []Signature, keys []PublicKey) (int, error) {
	if len(all) == 0 {
		return 0, &Error{Unsigned, "its image has no signature"}
	}
	var worst error = &Error{Untrusted, fmt.Sprintf("none of the %d signatures of its image is valid and by a trusted key", len(all))}
	for i, key := range keys {
		for _, s := range all {
			if len(s.Payload) > maxPayload || !key.Made(s) {
				continue
			}
			err := saysOfImage(s.Payload, digest)
			if err == nil {
				return i, nil
			}
			worst = err
		}
	}
	return 0, worst
}

// saysOfImage is what is wrong with a payload that a trusted key signed.
func saysOfImage(payload []byte, digest string) error {
	var p Payload
	if err := json.Unmarshal(payload, &p); err != nil {
		return &Error{PayloadMalformed, "what was signed of the image cannot be read: " + err.Error()}
	}
	switch is := p.Critical; {
	case is.Type != ImageType:
		return &Error{PayloadMalformed, fmt.Sprintf("what was signed of the image has the critical.type %q, not %q", is.Type, ImageType)}
	case is.Image.Digest != digest:
		return &Error{OfOtherContent, fmt.Sprintf("the signature is of the image %q, and this is %s", is.Image.Digest, digest)}
	}
	return nil
}
