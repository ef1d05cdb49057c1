package keylesstest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
)

// What signatures say of themselves.
const (
	MediaType     = "application/vnd.dev.sigstore.bundle.v0.3+json"
	StatementType = "application/vnd.in-toto+json"
	Signed        = "https://sigstore.dev/cosign/sign/v1"
	Provenance    = "https://slsa.dev/provenance/v1"
)

// Blob is a bundle of bytes, which the usual identity signed now.
func (s *Sigstore) Blob(content []byte) Tree {
	return s.BlobBy(s.Certify(Issuer, Subject, time.Now()), time.Now(), content)
}

// BlobBy is a bundle of bytes that went into the log at a time.
func (s *Sigstore) BlobBy(leaf Leaf, at time.Time, content []byte) Tree {
	sum := sha256.Sum256(content)
	signed := s.sign(leaf.Key, content)
	b := s.bundle(leaf, at, "hashedrekord", s.hashed(leaf, content, signed))
	b["messageSignature"] = Tree{"messageDigest": Tree{"algorithm": "SHA2_256", "digest": Base64(sum[:])}, "signature": Base64(signed)}
	return b
}

// hashed is what the log has of bytes that were signed.
func (s *Sigstore) hashed(leaf Leaf, content, signed []byte) Tree {
	sum := sha256.Sum256(content)
	return Tree{
		"data":      Tree{"hash": Tree{"algorithm": "sha256", "value": hex.EncodeToString(sum[:])}},
		"signature": Tree{"content": Base64(signed), "publicKey": Tree{"content": Base64([]byte(leaf.PEM()))}},
	}
}

// Statement is one of in-toto about a digest (sha256:HEX).
func (s *Sigstore) Statement(predicateType, digest string, predicate Tree) []byte {
	return []byte(s.JSON(Tree{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": predicateType, "predicate": predicate,
		"subject": []any{Tree{"name": "tabs", "digest": Tree{"sha256": digest[len("sha256:"):]}}},
	}))
}

// BuiltBy is the predicate of provenance that a builder made something.
func BuiltBy(id string) Tree { return Tree{"runDetails": Tree{"builder": Tree{"id": id}}} }

// Envelope is a bundle of a statement, which the usual identity signed now.
func (s *Sigstore) Envelope(statement []byte) Tree {
	return s.EnvelopeBy(s.Certify(Issuer, Subject, time.Now()), time.Now(), statement)
}

// EnvelopeBy is a bundle of a statement that went into the log at a time.
func (s *Sigstore) EnvelopeBy(leaf Leaf, at time.Time, statement []byte) Tree {
	signed := s.sign(leaf.Key, PAE(statement))
	sum := sha256.Sum256(statement)
	envelope := DSSE(statement, signed)
	whole := sha256.Sum256([]byte(s.JSON(envelope)))
	hash := func(sum [32]byte) Tree { return Tree{"algorithm": "sha256", "value": hex.EncodeToString(sum[:])} }
	b := s.bundle(leaf, at, "dsse", Tree{
		"envelopeHash": hash(whole), "payloadHash": hash(sum),
		"signatures": []any{Tree{"signature": Base64(signed), "verifier": Base64([]byte(leaf.PEM()))}},
	})
	b["dsseEnvelope"] = envelope
	return b
}

// PAE is what the signature of an envelope with a statement is over.
func PAE(statement []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(StatementType), StatementType, len(statement), statement)
}

// DSSE is an envelope with a statement and a signature of it.
func DSSE(statement, signed []byte) Tree {
	return Tree{"payload": Base64(statement), "payloadType": StatementType, "signatures": []any{Tree{"sig": Base64(signed)}}}
}

// bundle has the certificate and the entry of the log, the second of two.
func (s *Sigstore) bundle(leaf Leaf, at time.Time, kind string, spec Tree) Tree {
	body := []byte(s.JSON(Tree{"apiVersion": "0.0.1", "kind": kind, "spec": spec}))
	before, leafHash := sha256.Sum256([]byte("\x00before")), sha256.Sum256(append([]byte{0}, body...))
	root := sha256.Sum256(append(append([]byte{1}, before[:]...), leafHash[:]...))
	return Tree{"mediaType": MediaType, "verificationMaterial": Tree{
		"certificate": Tree{"rawBytes": Base64(leaf.Cert.Raw)},
		"tlogEntries": []any{Tree{
			"logIndex": "7", "logId": Tree{"keyId": Base64(s.logID())}, "integratedTime": strconv.FormatInt(at.Unix(), 10),
			"kindVersion": Tree{"kind": kind, "version": "0.0.1"}, "canonicalizedBody": Base64(body),
			"inclusionPromise": Tree{"signedEntryTimestamp": Base64(s.promise(body, at))},
			"inclusionProof": Tree{
				"logIndex": "1", "treeSize": "2", "rootHash": Base64(root[:]), "hashes": []any{Base64(before[:])},
				"checkpoint": Tree{"envelope": s.checkpoint(root[:])},
			},
		}},
	}}
}

// promise is the log's signature of an entry and its time.
func (s *Sigstore) promise(body []byte, at time.Time) []byte {
	return s.sign(s.log, []byte(s.JSON(Tree{"body": Base64(body), "integratedTime": at.Unix(), "logID": hex.EncodeToString(s.logID()), "logIndex": 7})))
}

// checkpoint is the log's signature of its root.
func (s *Sigstore) checkpoint(root []byte) string {
	note := "log.example.com - 4711\n2\n" + Base64(root) + "\n"
	return note + "\n— log.example.com " + Base64(append(s.logID()[:4:4], s.sign(s.log, []byte(note))...)) + "\n"
}

// ByKey is a bundle of bytes and a key's signature of them, which no log has.
func ByKey(content, signed []byte) Tree {
	sum := sha256.Sum256(content)
	return Tree{"mediaType": MediaType, "verificationMaterial": Tree{"publicKey": Tree{"hint": "a key"}}, "messageSignature": Tree{
		"messageDigest": Tree{"algorithm": "SHA2_256", "digest": Base64(sum[:])}, "signature": Base64(signed),
	}}
}

// EnvelopeByKey is a bundle of a statement and a key's signature of it.
func EnvelopeByKey(statement, signed []byte) Tree {
	return Tree{"mediaType": MediaType, "verificationMaterial": Tree{"publicKey": Tree{"hint": "a key"}}, "dsseEnvelope": DSSE(statement, signed)}
}

// Entry is the entry of the log in a bundle.
func Entry(bundle Tree) Tree {
	return bundle["verificationMaterial"].(Tree)["tlogEntries"].([]any)[0].(Tree)
}

// BesideImage are the annotations by which cosign keeps a signature of a payload, in an
// artifact of the tag that is made of the image's digest.
func (s *Sigstore) BesideImage(payload []byte) map[string]string {
	leaf, now := s.Certify(Issuer, Subject, time.Now()), time.Now()
	signed := s.sign(leaf.Key, payload)
	body := []byte(s.JSON(Tree{"apiVersion": "0.0.1", "kind": "hashedrekord", "spec": s.hashed(leaf, payload, signed)}))
	return map[string]string{
		"dev.cosignproject.cosign/signature": Base64(signed),
		"dev.sigstore.cosign/certificate":    leaf.PEM(),
		"dev.sigstore.cosign/chain":          s.Certificates(),
		"dev.sigstore.cosign/bundle": s.JSON(Tree{
			"SignedEntryTimestamp": Base64(s.promise(body, now)),
			"Payload":              Tree{"body": Base64(body), "integratedTime": now.Unix(), "logIndex": 7, "logID": hex.EncodeToString(s.logID())},
		}),
	}
}
