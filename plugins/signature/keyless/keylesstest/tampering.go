package keylesstest

import (
	"crypto/x509"
	"slices"
	"time"

	"github.com/wasmgate/wasmgate/plugins/signature"
)

// Tampering is a bundle that was tampered with, and why it is refused; "" for a twin that
// was not.
type Tampering struct {
	Name string
	// Do makes the text of a bundle of content.
	Do   func(s *Sigstore, content []byte) string
	Want string
}

// What refusals begin with.
const (
	untrusted   = "SignatureUntrusted"
	invalid     = "SignatureBundleInvalid"
	notInLog    = untrusted + ": the bundle of " + Subject + " is not to be believed: failed to verify log inclusion: "
	otherThings = "SignatureOfOtherContent"
)

// Tamperings are what may be done to bundles.
func Tamperings() []Tampering {
	return slices.Concat(certificates(), entries(), forms(), envelopes())
}

// blob makes the bundle of the content and changes it.
func blob(change func(s *Sigstore, content []byte, b Tree)) func(*Sigstore, []byte) string {
	return func(s *Sigstore, content []byte) string {
		b := s.Blob(content)
		change(s, content, b)
		return s.JSON(b)
	}
}

func material(b Tree) Tree { return b["verificationMaterial"].(Tree) }

func certificates() []Tampering {
	at := func(issued, logged time.Duration) func(*Sigstore, []byte) string {
		return func(s *Sigstore, content []byte) string {
			now := time.Now()
			return s.JSON(s.BlobBy(s.Certify(Issuer, Subject, now.Add(issued)), now.Add(logged), content))
		}
	}
	by := func(certify func(s *Sigstore) Leaf) func(*Sigstore, []byte) string {
		return func(s *Sigstore, content []byte) string {
			return s.JSON(s.BlobBy(certify(s), time.Now(), content))
		}
	}
	return []Tampering{
		{"nothing", blob(func(*Sigstore, []byte, Tree) {}), ""},
		{"signed a year ago", at(-300*24*time.Hour, -300*24*time.Hour), ""},
		{"the certificate expired before the log's time", at(-time.Hour, -45*time.Minute), notInLog + "integrated time outside certificate validity"},
		{"the log's time is before the certificate's", at(0, -time.Minute), notInLog + "integrated time outside certificate validity"},
		{"another issuer", by(func(s *Sigstore) Leaf { return s.Certify("https://evil.example.com", Subject, time.Now()) }), "SignatureOfOtherIdentity: a bundle of it has the issuer"},
		{"another subject", by(func(s *Sigstore) Leaf { return s.Certify(Issuer, Subject+"2", time.Now()) }), "SignatureOfOtherIdentity: a bundle of it has the subject"},
		{"a certificate of another root", by(func(s *Sigstore) Leaf { return New(s.tb).Certify(Issuer, Subject, time.Now()) }), untrusted + ": the bundle of " + Subject + " is not to be believed: failed to verify leaf certificate"},
		{"a certificate for other uses", by(func(s *Sigstore) Leaf {
			leaf := s.Certify(Issuer, Subject, time.Now())
			other := *leaf.Cert
			other.ExtKeyUsage, other.ExtraExtensions = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, other.Extensions[len(other.Extensions)-1:]
			return Leaf{s.certificate(&other, s.between, leaf.Key), leaf.Key}
		}), untrusted},
		{"the certificate of somebody else's signature", blob(func(s *Sigstore, content []byte, b Tree) {
			material(b)["certificate"] = material(s.Blob(content))["certificate"]
		}), notInLog + "transparency log certificate does not match"},
		{"no subject", by(func(s *Sigstore) Leaf {
			leaf := s.Certify(Issuer, Subject, time.Now())
			other := *leaf.Cert
			other.URIs, other.ExtraExtensions = nil, other.Extensions[len(other.Extensions)-1:]
			return Leaf{s.certificate(&other, s.between, leaf.Key), leaf.Key}
		}), invalid + ": a bundle of it: its certificate: no Subject Alternative Name"},
	}
}

func entries() []Tampering {
	entry := func(change func(s *Sigstore, e Tree)) func(*Sigstore, []byte) string {
		return blob(func(s *Sigstore, _ []byte, b Tree) { change(s, Entry(b)) })
	}
	proof := func(change func(s *Sigstore, p Tree)) func(*Sigstore, []byte) string {
		return entry(func(s *Sigstore, e Tree) { change(s, e["inclusionProof"].(Tree)) })
	}
	other := make([]byte, 32)
	return []Tampering{
		{"the entry of another artifact", blob(func(s *Sigstore, content []byte, b Tree) {
			material(b)["tlogEntries"] = material(s.Blob(append([]byte("x"), content...)))["tlogEntries"]
		}), notInLog + "transparency log signature does not match"},
		{"no entry", blob(func(_ *Sigstore, _ []byte, b Tree) { delete(material(b), "tlogEntries") }), notInLog + "not enough verified log entries"},
		{"no proof", entry(func(_ *Sigstore, e Tree) { delete(e, "inclusionProof") }), invalid + ": a bundle of it: inclusion proof missing"},
		{"a proof of one of two entries", blob(func(_ *Sigstore, _ []byte, b Tree) {
			bare := Tree{}
			for k, v := range Entry(b) {
				bare[k] = v
			}
			delete(bare, "inclusionProof")
			material(b)["tlogEntries"] = []any{bare, Entry(b)}
		}), invalid + ": a bundle of it: an entry has no proof"},
		{"another hash in the proof", proof(func(_ *Sigstore, p Tree) { p["hashes"] = []any{Base64(other)} }), notInLog},
		{"no hash in the proof", proof(func(_ *Sigstore, p Tree) { p["hashes"] = []any{} }), notInLog},
		{"another root in the proof", proof(func(_ *Sigstore, p Tree) { p["rootHash"] = Base64(other) }), notInLog},
		{"another place in the proof", proof(func(_ *Sigstore, p Tree) { p["logIndex"] = "0" }), notInLog},
		{"another size in the proof", proof(func(_ *Sigstore, p Tree) { p["treeSize"] = "3" }), notInLog},
		{"no checkpoint", proof(func(_ *Sigstore, p Tree) { delete(p, "checkpoint") }), invalid},
		{"a checkpoint of another root", proof(func(s *Sigstore, p Tree) { p["checkpoint"] = Tree{"envelope": s.checkpoint(other)} }), notInLog},
		{"a checkpoint of another log", proof(func(s *Sigstore, p Tree) {
			p["checkpoint"] = Entry(New(s.tb).Blob(nil))["inclusionProof"].(Tree)["checkpoint"]
		}), notInLog},
		{"no promise, so no time", entry(func(_ *Sigstore, e Tree) { delete(e, "inclusionPromise") }), untrusted + ": the bundle of " + Subject + " is not to be believed: failed to verify timestamps"},
		{"a promise of another log", entry(func(s *Sigstore, e Tree) { e["inclusionPromise"] = Entry(New(s.tb).Blob(nil))["inclusionPromise"] }), notInLog + "not enough verified log entries"},
		{"another time", func(s *Sigstore, content []byte) string {
			hour := time.Now().Add(-time.Hour)
			b := s.BlobBy(s.Certify(Issuer, Subject, hour), time.Now(), content)
			Entry(b)["integratedTime"] = Entry(s.BlobBy(s.Certify(Issuer, Subject, hour), hour, content))["integratedTime"]
			return s.JSON(b)
		}, notInLog + "not enough verified log entries"},
		{"another log", entry(func(s *Sigstore, e Tree) { e["logId"] = Entry(New(s.tb).Blob(nil))["logId"] }), notInLog + "not enough verified log entries"},
		{"five entries", blob(func(_ *Sigstore, _ []byte, b Tree) {
			material(b)["tlogEntries"] = slices.Repeat([]any{Entry(b)}, 5)
		}), invalid + ": a bundle of it: it has 5 entries"},
		{"the same entry twice", blob(func(_ *Sigstore, _ []byte, b Tree) {
			material(b)["tlogEntries"] = slices.Repeat([]any{Entry(b)}, 2)
		}), notInLog + "duplicate"},
	}
}

func forms() []Tampering {
	set := func(name string, value any) func(*Sigstore, []byte) string {
		return blob(func(_ *Sigstore, _ []byte, b Tree) { b[name] = value })
	}
	signed := func(change func(s *Sigstore, content []byte, m Tree)) func(*Sigstore, []byte) string {
		return blob(func(s *Sigstore, content []byte, b Tree) { change(s, content, b["messageSignature"].(Tree)) })
	}
	text := func(text string) func(*Sigstore, []byte) string {
		return func(*Sigstore, []byte) string { return text }
	}
	return []Tampering{
		{"of other content", func(s *Sigstore, content []byte) string { return s.JSON(s.Blob(append([]byte("x"), content...))) }, otherThings},
		{"of other content, the digest altered", func(s *Sigstore, content []byte) string {
			b := s.Blob(append([]byte("x"), content...))
			b["messageSignature"].(Tree)["messageDigest"] = s.Blob(content)["messageSignature"].(Tree)["messageDigest"]
			return s.JSON(b)
		}, notInLog},
		{"another signature", signed(func(s *Sigstore, content []byte, m Tree) {
			m["signature"] = s.Blob(content)["messageSignature"].(Tree)["signature"]
		}), notInLog + "transparency log signature does not match"},
		{"no digest", signed(func(_ *Sigstore, _ []byte, m Tree) { delete(m, "messageDigest") }), invalid},
		{"SHA-512", signed(func(_ *Sigstore, _ []byte, m Tree) {
			m["messageDigest"] = Tree{"algorithm": "SHA2_512", "digest": Base64(make([]byte, 64))}
		}), invalid},
		{"no signature", blob(func(_ *Sigstore, _ []byte, b Tree) { delete(b, "messageSignature") }), invalid},
		{"by a key", blob(func(_ *Sigstore, _ []byte, b Tree) {
			delete(material(b), "certificate")
			material(b)["publicKey"] = Tree{"hint": "key"}
		}), untrusted + ": none of its 1 signatures"},
		{"no certificate", blob(func(_ *Sigstore, _ []byte, b Tree) { delete(material(b), "certificate") }), invalid},
		{"a certificate that is none", blob(func(_ *Sigstore, _ []byte, b Tree) {
			material(b)["certificate"] = Tree{"rawBytes": Base64([]byte("x"))}
		}), invalid},
		{"version 0.1", set("mediaType", "application/vnd.dev.sigstore.bundle+json;version=0.1"), invalid + ": a bundle of it: it is of the version 0.1"},
		{"version 0.4", set("mediaType", "application/vnd.dev.sigstore.bundle.v0.4+json"), invalid},
		{"another field", set("trust", "me"), invalid},
		{"no JSON", text("trust me"), invalid},
		{"a list", text("[]"), invalid},
		{"null", text("null"), invalid},
	}
}

func envelopes() []Tampering {
	stated := func(predicateType, of string, change func(s *Sigstore, e Tree)) func(*Sigstore, []byte) string {
		return func(s *Sigstore, content []byte) string {
			b := s.Envelope(s.Statement(predicateType, signature.Digest(append(content, of...)), Tree{}))
			change(s, b["dsseEnvelope"].(Tree))
			return s.JSON(b)
		}
	}
	same := func(*Sigstore, Tree) {}
	return []Tampering{
		{"a statement that it is signed", stated(Signed, "", same), ""},
		{"a statement of provenance", stated(Provenance, "", same), ""},
		{"a statement of something else", stated("https://cosign.sigstore.dev/attestation/vuln/v1", "", same), "SignaturePayloadInvalid: a statement of the type"},
		{"a statement of other content", stated(Signed, "x", same), otherThings + ": none of the 1 subjects"},
		{"the statement is altered", stated(Signed, "", func(_ *Sigstore, e Tree) {
			e["payload"] = Base64([]byte(`{"_type":"https://in-toto.io/Statement/v1"}`))
		}), untrusted},
		{"the type of the statement is altered", stated(Signed, "", func(_ *Sigstore, e Tree) { e["payloadType"] = "text/plain" }), untrusted},
		{"a signature is added", stated(Signed, "", func(_ *Sigstore, e Tree) {
			e["signatures"] = append(e["signatures"].([]any), e["signatures"].([]any)[0])
		}), untrusted},
		{"no signature of the statement", stated(Signed, "", func(_ *Sigstore, e Tree) { e["signatures"] = []any{} }), untrusted},
		{"no statement", func(s *Sigstore, _ []byte) string { return s.JSON(s.Envelope([]byte("trust me"))) }, untrusted},
		{"a statement of no type", func(s *Sigstore, _ []byte) string { return s.JSON(s.Envelope([]byte("{}"))) }, "SignaturePayloadInvalid"},
	}
}
