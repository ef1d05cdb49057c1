package load_test

import (
	"strings"

	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless/keylesstest"
)

// identityOf is an authority whose signatures are bundles.
func identityOf(by *keylesstest.Sigstore) tree {
	return tree{"name": "ci", "keyless": tree{"issuer": keylesstest.Issuer, "subject": keylesstest.Subject, "certificates": by.Certificates(), "logs": by.Logs()}}
}

// by is a scene in which a key counts, and an identity, which has to satisfy more.
func by(more tree, do func(s *scene, by *keylesstest.Sigstore)) func(*scene) {
	return func(s *scene) {
		sigstore := keylesstest.New(s.T)
		a := identityOf(sigstore)
		for k, v := range more {
			a[k] = v
		}
		s.policies = []tree{trustOf("one", tree{"authorities": []any{authorityOf("a", s.good), a}})}
		do(s, sigstore)
	}
}

// bundles is what may be done to modules that carry a bundle.
func bundles() (all []tampering) {
	for _, c := range keylesstest.Tamperings() {
		want := signed
		if reason, says, told := strings.Cut(c.Want, ": "); c.Want != "" {
			want = "False " + reason
			if told {
				want += ` ModuleTrust "one" does not let it serve: ` + says
			}
		}
		all = append(all, tampering{"bundle: " + c.Name, by(nil, func(s *scene, sigstore *keylesstest.Sigstore) {
			s.sign(signature.Signature{Bundle: c.Do(sigstore, s.content)})
		}), want})
	}
	stated := func(builder string, b func(s *scene, by *keylesstest.Sigstore, statement []byte) string) func(s *scene, by *keylesstest.Sigstore) {
		return func(s *scene, by *keylesstest.Sigstore) {
			statement := by.Statement(keylesstest.Provenance, signature.Digest(s.content), keylesstest.BuiltBy(builder))
			s.sign(signature.Signature{Bundle: b(s, by, statement)})
		}
	}
	enveloped := func(_ *scene, by *keylesstest.Sigstore, statement []byte) string {
		return by.JSON(by.Envelope(statement))
	}
	built := tree{"provenance": tree{"builders": []any{"https://builders.example.com/*"}}}
	const builder = "https://builders.example.com/generic@v2"
	return append(all,
		tampering{"a key, and an identity that did not sign", by(nil, func(s *scene, _ *keylesstest.Sigstore) {
			s.sign(s.good.sign(s.T, s.content, ""))
		}), signed},
		tampering{"five bundles", by(nil, func(s *scene, _ *keylesstest.Sigstore) {
			s.file = append(s.content, section("["+strings.Repeat(`{"bundle":"{}"},`, 4)+`{"bundle":"{}"}]`)...)
		}), "False SignatureMalformed"},
		tampering{"no roots", by(tree{"keyless": tree{"issuer": "a", "subject": "b"}}, func(*scene, *keylesstest.Sigstore) {}), "False TrustUnreadable"},
		tampering{"a key and an identity in one", by(tree{"key": "x"}, func(*scene, *keylesstest.Sigstore) {}), "False TrustUnreadable"},
		tampering{"provenance is demanded, and there", by(built, stated(builder, enveloped)), signed},
		tampering{"provenance is demanded, and a signature is there", by(built, func(s *scene, by *keylesstest.Sigstore) {
			s.sign(signature.Signature{Bundle: by.JSON(by.Blob(s.content))})
		}), "False ProvenanceMissing"},
		tampering{"another builder", by(built, stated("https://builders.example.org/generic@v2", enveloped)), "False ProvenanceMismatch"},
		tampering{"no builder", by(built, stated("", enveloped)), "False ProvenanceMismatch"},
		tampering{"provenance of another type is demanded", by(tree{"provenance": tree{"predicateType": "https://slsa.dev/provenance/v0.2", "builders": []any{"*"}}}, stated(builder, enveloped)), "False ProvenanceMissing"},
		tampering{"provenance by a key", by(built, stated(builder, func(s *scene, by *keylesstest.Sigstore, statement []byte) string {
			return by.JSON(keylesstest.Tree{"dsseEnvelope": keylesstest.DSSE(statement, s.good.signPayload(s.T, string(keylesstest.PAE(statement))).Signature)})
		})), signed},
		tampering{"provenance by another key", by(built, stated(builder, func(s *scene, by *keylesstest.Sigstore, statement []byte) string {
			return by.JSON(keylesstest.Tree{"dsseEnvelope": keylesstest.DSSE(statement, s.other.signPayload(s.T, string(keylesstest.PAE(statement))).Signature)})
		})), "False SignatureBundleInvalid"},
	)
}

// keyBundles is what may be done to bundles that a key made, and to statements that are
// demanded.
func keyBundles() []tampering {
	byKey := func(k func(s *scene) keyPair, of string, change func(m tree)) func(*scene) {
		return by(nil, func(s *scene, by *keylesstest.Sigstore) {
			text := string(s.content) + of
			b := keylesstest.ByKey([]byte(text), k(s).signPayload(s.T, text).Signature)
			change(b["messageSignature"].(tree))
			s.sign(signature.Signature{Bundle: by.JSON(b)})
		})
	}
	good, other, same := func(s *scene) keyPair { return s.good }, func(s *scene) keyPair { return s.other }, func(tree) {}
	const scan = "https://cosign.sigstore.dev/attestation/vuln/v1"
	scanned := func(found int, do func(s *scene, all ...signature.Signature)) func(*scene) {
		more := tree{"statements": []any{tree{"predicateType": scan, "condition": "self.found == 0"}, tree{"predicateType": "https://spdx.dev/Document"}}}
		return by(more, func(s *scene, by *keylesstest.Sigstore) {
			state := func(kind string, predicate tree) signature.Signature {
				return signature.Signature{Bundle: by.JSON(by.Envelope(by.Statement(kind, signature.Digest(s.content), predicate)))}
			}
			do(s, state("https://spdx.dev/Document", tree{"name": "tabs"}), state(scan, tree{"found": found}))
		})
	}
	carries := func(s *scene, all ...signature.Signature) { s.sign(all...) }
	return []tampering{
		{"a key's bundle", byKey(good, "", same), signed},
		{"another key's bundle", byKey(other, "", same), "False SignatureUntrusted"},
		{"a key's bundle of other content", byKey(good, "x", same), "False SignatureOfOtherContent"},
		{"a key's bundle, its digest altered", byKey(good, "x", func(m tree) { m["messageDigest"].(tree)["digest"] = keylesstest.Base64(make([]byte, 32)) }), "False SignatureUntrusted"},
		{"a key's bundle, broken base64", byKey(good, "", func(m tree) { m["signature"] = "=" }), "False SignatureBundleInvalid"},
		{"statements are demanded, and there", scanned(0, carries), signed},
		{"a statement does not meet the condition", scanned(3, carries), `False StatementMismatch ModuleTrust "one" does not let it serve: a "` + scan},
		{"one of two statements", scanned(0, func(s *scene, all ...signature.Signature) { s.sign(all[0]) }), "False StatementMissing"},
		{"a condition that cannot be read, in etcd", by(tree{"statements": []any{tree{"predicateType": "x", "condition": "self."}}}, func(*scene, *keylesstest.Sigstore) {}), "False TrustUnreadable"},
	}
}
