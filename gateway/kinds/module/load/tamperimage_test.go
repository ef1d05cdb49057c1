package load_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/wasmgate/wasmgate/plugins/signature"
)

// manifestOf is that of an image with content.
func manifestOf(content string) string {
	return `{"schemaVersion":2,"layers":[{"mediaType":"application/wasm","size":1,"digest":"` + digest(content) + `"}]}`
}

// imagePayload is what cosign signs of an image with a manifest.
func (s *scene) imagePayload(manifest, kind string) string {
	p := signature.Payload{Critical: signature.Critical{Identity: signature.Identity{Reference: "r/tabs"}, Image: signature.Image{Digest: digest(manifest)}, Type: kind}}
	text, err := json.Marshal(p)
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// vouch puts a signature beside an image.
func (s *scene) vouch(manifest string, all ...signature.Signature) {
	list := []any{}
	for _, one := range all {
		list = append(list, tree{"payload": base64.StdEncoding.EncodeToString(one.Payload), "signature": base64.StdEncoding.EncodeToString(one.Signature)})
	}
	s.beside = append(s.beside, tree{"manifest": manifest, "signatures": list})
}

// images is what may be done to what vouches for an image.
func images() []tampering {
	// Content that carries no signature, of an image; keys count for images.
	of := func(do func(s *scene, manifest string)) func(*scene) {
		return func(s *scene) {
			s.file = s.content
			s.policies = []tree{trustOf("one", tree{"authorities": []any{tree{"name": "a", "key": s.good.public, "images": true}}})}
			do(s, manifestOf(string(s.file)))
		}
	}
	signs := func(s *scene, k keyPair, manifest string) signature.Signature {
		return k.signPayload(s.T, s.imagePayload(manifest, signature.ImageType))
	}
	return []tampering{
		{"its image is signed", of(func(s *scene, m string) { s.vouch(m, signs(s, s.good, m)) }), signed},
		{"its image is signed by several", of(func(s *scene, m string) { s.vouch(m, signs(s, s.other, m), signs(s, s.good, m)) }), signed},
		{"another image came since", of(func(s *scene, m string) {
			newer := manifestOf("newer")
			s.vouch(newer, signs(s, s.good, newer))
			s.vouch(m, signs(s, s.good, m))
		}), signed},
		{"images do not count", of(func(s *scene, m string) {
			s.vouch(m, signs(s, s.good, m))
			s.demand(tree{}, s.good)
		}), "False Unsigned"},
		{"its image is signed by another", of(func(s *scene, m string) { s.vouch(m, signs(s, s.other, m)) }), "False SignatureUntrusted"},
		{"the signatures beside it are stripped", of(func(s *scene, m string) { s.vouch(m) }), "False Unsigned"},
		{"nothing is beside it", of(func(*scene, string) {}), "False Unsigned"},
		{"the tag moved: the signature is of another image", of(func(s *scene, m string) { s.vouch(m, signs(s, s.good, manifestOf("other"))) }), "False SignatureOfOtherContent"},
		{"the image that is signed is another", of(func(s *scene, _ string) {
			other := manifestOf("other")
			s.vouch(other, signs(s, s.good, other))
		}), "False Unsigned"},
		{"its digest is written into the manifest", of(func(s *scene, m string) {
			other := manifestOf("other")
			s.vouch(strings.Replace(other, digest("other"), digest(string(s.file)), 1)+" ", signs(s, s.good, other))
		}), "False SignatureOfOtherContent"},
		{"the type of modules", of(func(s *scene, m string) { s.vouch(m, s.good.signPayload(s.T, s.imagePayload(m, signature.Type))) }), "False SignaturePayloadInvalid"},
		{"the payload of the image is altered", of(func(s *scene, m string) {
			one := signs(s, s.good, m)
			one.Payload = append(one.Payload, ' ')
			s.vouch(m, one)
		}), "False SignatureUntrusted"},
		{"the payload of the image is no JSON", of(func(s *scene, m string) { s.vouch(m, s.good.signPayload(s.T, "trust me")) }), "False SignaturePayloadInvalid"},
		{"the manifest is no JSON", of(func(s *scene, m string) { s.vouch("x"+m, signs(s, s.good, "x"+m)) }), "False Unsigned"},
		{"a signature of an image in the module", of(func(s *scene, m string) {
			s.sign(signs(s, s.good, m))
		}), "False SignaturePayloadInvalid"},
		{"it is revoked, and its image is signed", of(func(s *scene, m string) {
			s.vouch(m, signs(s, s.good, m))
			s.policies = append(s.policies, trustOf("two", tree{"revokedDigests": []any{digest(string(s.file))}}))
		}), "False Revoked"},
		{"a second policy does not count images", of(func(s *scene, m string) {
			s.vouch(m, signs(s, s.good, m))
			s.policies = append(s.policies, trustOf("two", tree{"authorities": []any{authorityOf("a", s.good)}}))
		}), `False Unsigned ModuleTrust "two"`},
	}
}
