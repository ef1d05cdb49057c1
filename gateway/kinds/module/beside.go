package module

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/wasmgate/wasmgate/plugins/signature"
)

// The status has what was signed of images, so there are bounds: of a manifest, in bytes,
// above which nothing is kept, and of how many images there is something.
const (
	maxManifest = 16 << 10
	maxBeside   = 3
)

// Beside is what a registry had beside an image that vouches for the module in it: who
// trusts a signature of the manifest, which names the module, trusts the module.
type Beside struct {
	// Manifest is the text of the image's manifest.
	Manifest string `json:"manifest"`
	// Signatures are those that are of its digest.
	Signatures []signature.Signature `json:"signatures"`
}

// NewBeside is what there is to keep; nil for nothing.
func NewBeside(manifest []byte, all []signature.Signature) *Beside {
	if len(all) == 0 || len(manifest) > maxManifest {
		return nil
	}
	return &Beside{string(manifest), all}
}

// Digest is that of the manifest.
func (b *Beside) Digest() string {
	sum := sha256.Sum256([]byte(b.Manifest))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Names tells that the manifest names content.
func (b *Beside) Names(digest string) bool {
	var m struct {
		Layers []struct {
			Digest string `json:"digest"`
		} `json:"layers"`
	}
	if json.Unmarshal([]byte(b.Manifest), &m) != nil {
		return false
	}
	return slices.ContainsFunc(m.Layers, func(l struct {
		Digest string `json:"digest"`
	}) bool {
		return l.Digest == digest
	})
}

// Remembering is what is kept when an image comes after others: those of content that is
// in use, by its digests, and then the latest, as they may serve again.
func (b *Beside) Remembering(earlier []Beside, inUse ...string) []Beside {
	if b == nil {
		return earlier
	}
	all := []Beside{*b}
	used := func(e Beside) bool { return slices.ContainsFunc(inUse, e.Names) }
	for _, first := range []bool{true, false} {
		for _, e := range earlier {
			if len(all) < maxBeside && e.Manifest != b.Manifest && used(e) == first {
				all = append(all, e)
			}
		}
	}
	return all
}
