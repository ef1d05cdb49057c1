package oci

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
)

// What cosign keeps beside an image: an artifact whose tag is made of the image's digest,
// with a layer for each signature.
const (
	signatureLayer      = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureAnnotation = "dev.cosignproject.cosign/signature"
)

// The bounds of what is read of signatures.
const (
	maxSignatures = 4
	maxPayload    = 4 << 10
)

// Signature is one that the registry has beside an artifact, or a bundle of Sigstore, of a
// payload or of the artifact itself. Nobody has verified it.
type Signature struct {
	Payload, Signature []byte
	Bundle             string
}

// signaturesOf are the signatures beside the artifact whose manifest has a digest, none
// where there are none or the registry does not tell: then nobody vouches for it.
func signaturesOf(ctx context.Context, repo *remote.Repository, digest string) (all []Signature) {
	described, body, err := repo.Manifests().FetchReference(ctx, strings.Replace(digest, ":", "-", 1)+".sig")
	if err != nil {
		return nil
	}
	defer body.Close()
	if described.Size > maxManifest {
		return nil
	}
	text, err := content.ReadAll(body, described)
	manifest := ocispec.Manifest{}
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return nil
	}
	for _, layer := range manifest.Layers {
		if layer.MediaType != signatureLayer || layer.Size > maxPayload || len(all) >= maxSignatures {
			continue
		}
		signed, err := base64.StdEncoding.DecodeString(layer.Annotations[signatureAnnotation])
		if err != nil || len(signed) == 0 || len(signed) > maxPayload {
			continue
		}
		if payload, err := content.FetchAll(ctx, repo.Blobs(), layer); err == nil {
			all = append(all, Signature{Payload: payload, Signature: signed})
			if bundle := keyless(layer.Annotations, layer.Digest, signed); bundle != "" && len(all) < maxSignatures {
				all = append(all, Signature{Payload: payload, Bundle: bundle})
			}
		}
	}
	return all
}
