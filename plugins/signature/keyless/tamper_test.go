package keyless_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless/keylesstest"
)

// TestTampering: a bundle that was tampered with is refused with the reason, by roots as
// PEM; the twins that were not are believed.
func TestTampering(t *testing.T) {
	s := keylesstest.New(t)
	by, content := authority(t, s, usual), []byte("content")
	for _, c := range keylesstest.Tamperings() {
		bundle := c.Do(s, bytes.Clone(content))
		_, err := signature.Demand{Digest: signature.Digest(content)}.Met([]signature.Signature{{Bundle: bundle}}, by)
		wantReason(t, c.Name, err, c.Want)
	}
	large := s.JSON(s.Envelope(s.Statement(keylesstest.Signed, signature.Digest(content), tree{"x": strings.Repeat("x", signature.MaxBundle)})))
	_, err := signature.Demand{Digest: signature.Digest(content)}.Met([]signature.Signature{{Bundle: large}}, by)
	wantReason(t, "too large", err, "SignatureBundleInvalid: a bundle of it: it has ")
	filled := s.JSON(s.Blob(content))
	filled += strings.Repeat(" ", signature.MaxBundle-len(filled))
	_, err = signature.Demand{Digest: signature.Digest(content)}.Met([]signature.Signature{{Bundle: filled}}, by)
	wantReason(t, "as large as it may be", err, "")
	four := s.Blob(content)
	four["verificationMaterial"].(tree)["tlogEntries"] = slices.Repeat([]any{keylesstest.Entry(four)}, 4)
	_, err = signature.Demand{Digest: signature.Digest(content)}.Met([]signature.Signature{{Bundle: s.JSON(four)}}, by)
	wantReason(t, "as many entries as may be, of one log", err, "SignatureUntrusted: the bundle of "+keylesstest.Subject+" is not to be believed: failed to verify log inclusion: duplicate")
}

// A bundle may be over a payload, which then says of what it is, and for which module. One
// of the version that has no proof counts for that alone.
func TestBundlesOfPayloads(t *testing.T) {
	s := keylesstest.New(t)
	by, digest := authority(t, s, usual), signature.Digest([]byte("content"))
	payload := func(name string) []byte {
		return []byte(s.JSON(signature.Payload{Critical: signature.Critical{Type: signature.Type, Identity: signature.Identity{Reference: name}, Image: signature.Image{Digest: digest}}}))
	}
	old := func(content []byte) string {
		b := s.Blob(content)
		b["mediaType"] = "application/vnd.dev.sigstore.bundle+json;version=0.1"
		delete(keylesstest.Entry(b), "inclusionProof")
		return s.JSON(b)
	}
	promised := s.Envelope(s.Statement(keylesstest.Signed, digest, tree{}))
	promised["mediaType"] = "application/vnd.dev.sigstore.bundle+json;version=0.1"
	for name, c := range map[string]struct {
		one  signature.Signature
		want string
	}{
		"for any":               {signature.Signature{Payload: payload(""), Bundle: s.JSON(s.Blob(payload("")))}, ""},
		"for it":                {signature.Signature{Payload: payload("tabs"), Bundle: s.JSON(s.Blob(payload("tabs")))}, ""},
		"for another":           {signature.Signature{Payload: payload("other"), Bundle: s.JSON(s.Blob(payload("other")))}, "SignatureForOtherModule"},
		"of another payload":    {signature.Signature{Payload: payload("tabs"), Bundle: s.JSON(s.Blob(payload("other")))}, "SignatureUntrusted: the bundle of " + keylesstest.Subject + " is of another payload"},
		"only promised":         {signature.Signature{Payload: payload("tabs"), Bundle: old(payload("tabs"))}, "SignatureBundleInvalid: a bundle of it: it is of the version 0.1"},
		"promised, a statement": {signature.Signature{Payload: payload("tabs"), Bundle: s.JSON(promised)}, "SignatureBundleInvalid: a bundle of it: it is of the version 0.1"},
		"promised, no payload":  {signature.Signature{Bundle: old([]byte("content"))}, "SignatureBundleInvalid: a bundle of it: it is of the version 0.1"},
	} {
		_, err := signature.Demand{Digest: digest, Name: "tabs"}.Met([]signature.Signature{c.one}, by)
		wantReason(t, name, err, c.want)
	}
	// What a registry keeps beside an image has no more, and is of the image.
	image := []byte(s.JSON(signature.Payload{Critical: signature.Critical{Type: signature.ImageType, Image: signature.Image{Digest: digest}}}))
	_, err := signature.Demand{Digest: digest, Name: "tabs", Image: true}.Met([]signature.Signature{{Payload: image, Bundle: old(image)}}, by)
	wantReason(t, "only promised, beside an image", err, "")
}
