package signature

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

type tree = map[string]any

// bundleByKey is one of what a key signed, with a hint of another key; change may be nil.
func bundleByKey(t *testing.T, key PrivateKey, signed []byte, change func(b, m tree)) Signature {
	t.Helper()
	made, err := key.Sign(signed)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(signed)
	m := tree{"messageDigest": tree{"algorithm": "SHA2_256", "digest": sum[:]}, "signature": made}
	b := tree{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "messageSignature": m,
		"verificationMaterial": tree{"publicKey": tree{"hint": "of another"}}}
	if change != nil {
		change(b, m)
	}
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return Signature{Bundle: string(text)}
}

func keyOf(t *testing.T, signer crypto.Signer) PrivateKey {
	t.Helper()
	key, err := ParsePrivateKey(privatePEM(t, signer))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// What a key signed of a module itself, or of a payload, counts in a bundle, whatever key
// that names: nobody signed the hint. Nothing else does.
func TestBundlesByKeys(t *testing.T) {
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key, byRSA, byEd := newKey(t), keyOf(t, big), keyOf(t, ed)
	digest, other := Digest(content), append([]byte("x"), content...)
	plain, err := Sign(content, "tabs", key)
	if err != nil {
		t.Fatal(err)
	}
	payload := func(made PrivateKey, payload []byte, change func(b, m tree)) Signature {
		s := bundleByKey(t, made, plain.Payload, change)
		s.Payload = payload
		return s
	}
	const none = "SignatureUntrusted: none of its 1 signatures is valid"
	for name, c := range map[string]struct {
		by   PrivateKey
		one  Signature
		want string
	}{
		"ECDSA":               {key, bundleByKey(t, key, content, nil), ""},
		"RSA":                 {byRSA, bundleByKey(t, byRSA, content, nil), ""},
		"Ed25519":             {byEd, bundleByKey(t, byEd, content, nil), "SignatureUntrusted: a bundle has a signature of the module itself, which an Ed25519 key"},
		"Ed25519, no key's":   {byEd, bundleByKey(t, byEd, content, func(b, _ tree) { delete(b, "verificationMaterial") }), none},
		"no hint":             {key, bundleByKey(t, key, content, func(b, _ tree) { b["verificationMaterial"] = tree{} }), ""},
		"its own hint":        {key, bundleByKey(t, newKey(t), content, func(b, _ tree) { b["verificationMaterial"] = tree{"publicKey": tree{"hint": key.Public().ID()}} }), none},
		"another key":         {key, bundleByKey(t, newKey(t), content, nil), none},
		"another kind of key": {byRSA, bundleByKey(t, key, content, nil), none},
		"other content":       {key, bundleByKey(t, key, other, nil), "SignatureOfOtherContent: "},
		"the digest altered": {key, bundleByKey(t, key, other, func(_, m tree) {
			sum := sha256.Sum256(content)
			m["messageDigest"].(tree)["digest"] = sum[:]
		}), none},
		"the signature altered":                {key, bundleByKey(t, key, content, func(_, m tree) { m["signature"].([]byte)[9] ^= 1 }), none},
		"no signature":                         {key, bundleByKey(t, key, content, func(_, m tree) { delete(m, "signature") }), none},
		"no digest":                            {key, bundleByKey(t, key, content, func(_, m tree) { delete(m, "messageDigest") }), none},
		"SHA-512":                              {key, bundleByKey(t, key, content, func(_, m tree) { m["messageDigest"].(tree)["algorithm"] = "SHA2_512" }), none},
		"both kinds":                           {key, bundleByKey(t, key, content, func(b, _ tree) { b["dsseEnvelope"] = tree{} }), none},
		"broken base64":                        {key, bundleByKey(t, key, content, func(_, m tree) { m["signature"] = "%%" }), "SignatureBundleInvalid: "},
		"too large":                            {key, bundleByKey(t, key, content, func(b, _ tree) { b["x"] = strings.Repeat("x", MaxBundle) }), "SignatureBundleInvalid: "},
		"of a payload":                         {key, payload(key, plain.Payload, nil), ""},
		"of a payload, Ed25519":                {byEd, payload(byEd, plain.Payload, nil), ""},
		"of another payload":                   {key, payload(key, append(plain.Payload, ' '), nil), none},
		"a payload by another":                 {key, payload(newKey(t), plain.Payload, nil), none},
		"a signed payload, taken for a module": {key, bundleByKey(t, key, plain.Payload, nil), "SignatureOfOtherContent: "},
	} {
		by, err := Demand{Digest: digest, Name: "tabs"}.Met([]Signature{c.one}, c.by.Public())
		var e *Error
		if c.want == "" && (err != nil || by.Key != c.by.Public().ID()) || c.want != "" && (!errors.As(err, &e) || !strings.HasPrefix(e.Error(), c.want)) {
			t.Errorf("%s: %v, %v, want %s", name, by, err, c.want)
		}
	}
	for size, good := range map[int]bool{maxPayload: true, maxPayload + 1: false} {
		long := append([]byte(plain.Payload), spaces(size-len(plain.Payload))...)
		s := bundleByKey(t, key, long, nil)
		s.Payload = long
		if _, err := (Demand{Digest: digest, Name: "tabs"}).Met([]Signature{s}, key.Public()); (err == nil) != good {
			t.Errorf("a payload of %d bytes: %v", size, err)
		}
	}
}

// FuzzBundleByKey: whatever a bundle is, a key that signed nothing else vouches for nothing
// but what it signed.
func FuzzBundleByKey(f *testing.F) {
	private, _, err := Generate()
	if err != nil {
		f.Fatal(err)
	}
	key, err := ParsePrivateKey(private)
	if err != nil {
		f.Fatal(err)
	}
	made, err := key.Sign(content)
	if err != nil {
		f.Fatal(err)
	}
	sum := sha256.Sum256(content)
	b64 := base64.StdEncoding.EncodeToString
	good := `{"messageSignature":{"messageDigest":{"algorithm":"SHA2_256","digest":"` + b64(sum[:]) + `"},"signature":"` + b64(made) + `"}}`
	f.Add(good)
	f.Add(`{"dsseEnvelope":{"payloadType":"t","payload":"e30=","signatures":[{"sig":"` + b64(made) + `"}]}}`)
	f.Add(`{"messageSignature":null,"verificationMaterial":{"publicKey":{"hint":"x"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Demand{Digest: Digest([]byte("of nothing that was signed"))}.Met([]Signature{{Bundle: text}}, key.Public())
		var e *Error
		if !errors.As(err, &e) || e.Reason == "" || e.Detail == "" {
			t.Errorf("%v", err)
		}
	})
}
