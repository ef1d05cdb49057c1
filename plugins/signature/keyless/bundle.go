package keyless

import (
	"crypto/sha256"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"github.com/wasmgate/wasmgate/plugins/signature"
)

// maxEntries bounds the entries of logs in a bundle; one is what there is.
const maxEntries = 4

// bundled is a bundle. Nothing of it is verified.
type bundled struct {
	*bundle.Bundle
	// digest is that of what was signed; nil where it is an envelope.
	digest []byte
	// promised tells that it is of the version 0.1.
	promised bool
}

// open reads a bundle. One of version 0.1, whose log only promises, counts for what cosign
// keeps beside images, which has no more than that.
func open(s signature.Signature) (*bundled, error) {
	if len(s.Bundle) > signature.MaxBundle {
		return nil, invalid("it has %d bytes, of %d at most", len(s.Bundle), signature.MaxBundle)
	}
	b := &bundled{Bundle: &bundle.Bundle{}}
	if err := b.UnmarshalJSON([]byte(s.Bundle)); err != nil {
		return nil, invalid("%v", err)
	}
	version, err := b.Version()
	if err != nil {
		return nil, invalid("%v", err)
	}
	if version == "v0.1" && (s.Payload == nil || b.GetMessageSignature() == nil) {
		return nil, invalid("it is of the version 0.1, which has no proof that a log has it")
	}
	b.promised = version == "v0.1"
	entries := b.GetVerificationMaterial().GetTlogEntries()
	if len(entries) > maxEntries {
		return nil, invalid("it has %d entries of logs, of %d at most", len(entries), maxEntries)
	}
	for _, e := range entries {
		if version != "v0.1" && e.GetInclusionProof() == nil {
			return nil, invalid("an entry has no proof that the log has it")
		}
	}
	if m := b.GetMessageSignature(); m != nil {
		if b.digest = m.GetMessageDigest().GetDigest(); len(b.digest) != sha256.Size {
			return nil, invalid("it is not of a SHA-256")
		}
	}
	return b, nil
}

// signatory is whom the certificate names.
func (b *bundled) signatory() (by signature.Signatory, err error) {
	content, err := b.VerificationContent()
	if err != nil {
		return by, invalid("%v", err)
	}
	leaf := content.Certificate()
	if leaf == nil {
		return by, &signature.Error{Reason: signature.Untrusted} // it is by a key
	}
	says, err := certificate.SummarizeCertificate(leaf)
	if err != nil {
		return by, invalid("its certificate: %v", err)
	}
	return signature.Signatory{Issuer: says.Issuer, Subject: says.SubjectAlternativeName}, nil
}

// artifact is what the signature has to be over. An envelope is looked into afterwards.
func (b *bundled) artifact() verify.ArtifactPolicyOption {
	if b.digest == nil {
		return verify.WithoutArtifactUnsafe()
	}
	return verify.WithArtifactDigest("sha256", b.digest)
}

// statement is what the envelope says.
func (b *bundled) statement() (*signature.Statement, error) {
	e := b.GetDsseEnvelope()
	return signature.ReadStatement(e.GetPayloadType(), e.GetPayload())
}
