package signature

import (
	"encoding/json"
	"fmt"
)

// ImageType is critical.type of what is signed of an image, as cosign has it.
const ImageType = "cosign container image signature"

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
