package oci

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strconv"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
)

// What is kept of keyless signatures: bundles are artifacts that refer to the image, and
// before there were bundles an annotation had what one consists of.
const (
	bundleLayer           = "application/vnd.dev.sigstore.bundle.v0.3+json"
	oldBundle             = "application/vnd.dev.sigstore.bundle+json;version=0.1"
	certificateAnnotation = "dev.sigstore.cosign/certificate"
	entryAnnotation       = "dev.sigstore.cosign/bundle"
)

// The bounds of what is read of bundles: the bytes of one and of all, the bytes of the
// manifest of one, and the pages of a list of them.
const (
	maxBundle     = 32 << 10
	maxAllBundles = 64 << 10
	maxReferrer   = 64 << 10
	maxPages      = 4
)

// errEnough ends a list.
var errEnough = errors.New("enough was read")

// bundlesOf are the bundles that refer to the artifact whose manifest has a digest and a
// size, none where the registry has none or does not tell.
func bundlesOf(ctx context.Context, repo *remote.Repository, manifest string, size int) (all []Signature) {
	of := ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.Digest(manifest), Size: int64(size)}
	tried, left := 0, int64(maxAllBundles)
	_ = repo.Referrers(ctx, of, bundleLayer, func(page []ocispec.Descriptor) error { // what came before it failed counts
		for _, d := range page {
			if tried++; tried > maxSignatures {
				return errEnough
			}
			if text := bundleOf(ctx, repo, d, min(maxBundle, left)); text != nil {
				all, left = append(all, Signature{Bundle: string(text)}), left-int64(len(text))
			}
		}
		return nil
	})
	return all
}

// bundleOf is the bundle that an artifact consists of, if it has most bytes at most.
func bundleOf(ctx context.Context, repo *remote.Repository, d ocispec.Descriptor, most int64) []byte {
	if d.Size > maxReferrer {
		return nil
	}
	text, err := content.FetchAll(ctx, repo.Manifests(), d)
	manifest := ocispec.Manifest{}
	if err != nil || json.Unmarshal(text, &manifest) != nil || len(manifest.Layers) != 1 {
		return nil
	}
	layer := manifest.Layers[0]
	if layer.MediaType != bundleLayer || layer.Size > most {
		return nil
	}
	if text, err = content.FetchAll(ctx, repo.Blobs(), layer); err != nil {
		return nil
	}
	return text
}

// entry is what the annotation has of the log's entry of a signature.
type entry struct {
	SignedEntryTimestamp []byte
	Payload              struct {
		Body           []byte `json:"body"`
		IntegratedTime int64  `json:"integratedTime"`
		LogIndex       int64  `json:"logIndex"`
		LogID          string `json:"logID"`
	}
}

// keyless makes a bundle of the annotations of a signature of a payload with a digest; "" if
// they do not have what it takes.
func keyless(annotations map[string]string, payload digest.Digest, signed []byte) string {
	said := annotations[entryAnnotation]
	cert, _ := pem.Decode([]byte(annotations[certificateAnnotation]))
	var e entry
	if cert == nil || len(said) > maxBundle || json.Unmarshal([]byte(said), &e) != nil {
		return ""
	}
	id, err := hex.DecodeString(e.Payload.LogID)
	if err != nil {
		return ""
	}
	sum, err := hex.DecodeString(payload.Encoded())
	if err != nil {
		return ""
	}
	type tree = map[string]any
	b64 := base64.StdEncoding.EncodeToString
	text, err := json.Marshal(tree{
		"mediaType":        oldBundle,
		"messageSignature": tree{"messageDigest": tree{"algorithm": "SHA2_256", "digest": b64(sum)}, "signature": b64(signed)},
		"verificationMaterial": tree{
			"x509CertificateChain": tree{"certificates": []any{tree{"rawBytes": b64(cert.Bytes)}}},
			"tlogEntries": []any{tree{
				"logIndex": strconv.FormatInt(e.Payload.LogIndex, 10), "logId": tree{"keyId": b64(id)},
				"kindVersion":       tree{"kind": "hashedrekord", "version": "0.0.1"},
				"integratedTime":    strconv.FormatInt(e.Payload.IntegratedTime, 10),
				"inclusionPromise":  tree{"signedEntryTimestamp": b64(e.SignedEntryTimestamp)},
				"canonicalizedBody": b64(e.Payload.Body),
			}},
		},
	})
	if err != nil || len(text) > maxBundle {
		return ""
	}
	return string(text)
}
