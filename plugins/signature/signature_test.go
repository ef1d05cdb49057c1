package signature

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
	"testing"
)

// content is a module with two custom sections, one of an export between them.
var content = append([]byte("\x00asm\x01\x00\x00\x00"), "\x00\x05\x04name\x07\x01\x00\x00\x08\x07content"...)

func privatePEM(t *testing.T, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func publicPEM(t *testing.T, key crypto.PublicKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func newKey(t *testing.T) PrivateKey {
	t.Helper()
	private, _, err := Generate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// met is the place of the first key that satisfies a demand.
func met(d Demand, all []Signature, keys ...PublicKey) (int, error) {
	var worst error
	for i, k := range keys {
		_, err := d.Met(all, k)
		if err == nil {
			return i, nil
		}
		worst = Nearest(worst, err)
	}
	return 0, worst
}

// Every kind of key signs, and verifies what it signed; another module is not it.
func TestKeysSignAndVerify(t *testing.T) {
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	older := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)})
	if same, err := ParsePrivateKey(older); err != nil || !same.signer.(*rsa.PrivateKey).Equal(rsaKey) {
		t.Error("an RSA key as openssl wrote it", err)
	}
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	for name, key := range map[string]crypto.Signer{"ECDSA": ec, "Ed25519": ed, "RSA": rsaKey} {
		private, err := ParsePrivateKey(privatePEM(t, key))
		if err != nil {
			t.Fatal(name, err)
		}
		public, err := ParsePublicKey(publicPEM(t, key.Public()))
		if err != nil || public.ID() != private.Public().ID() || len(public.ID()) != 16 {
			t.Fatal(name, err, public.ID())
		}
		s, err := Sign(content, "", private)
		if err != nil {
			t.Fatal(name, err)
		}
		signed, err := Join(content, []Signature{s})
		if err != nil {
			t.Fatal(name, err)
		}
		got, all, err := Split(signed)
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%s: %v, %q", name, err, got)
		}
		if at, err := met(Demand{Digest: Digest(got), Name: "any"}, all, newKey(t).Public(), public); err != nil || at != 1 {
			t.Error(name, at, err)
		}
		var refused *Error
		if _, err := met(Demand{Digest: Digest(signed), Name: "any"}, all, public); !errors.As(err, &refused) || refused.Reason != OfOtherContent {
			t.Error(name, err)
		}
	}
}

// Keys that are weak, of another form or too many are refused with the reason.
func TestKeysThatAreRefused(t *testing.T) {
	p384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	p224, _ := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	good, _, _ := Generate()
	key, _ := ParsePrivateKey(good)
	public := publicPEM(t, key.signer.Public())
	for name, c := range map[string]struct {
		pem  []byte
		want string
	}{
		"P-384":     {publicPEM(t, p384.Public()), "P-384, not P-256"},
		"P-224":     {publicPEM(t, p224.Public()), "P-224, not P-256"},
		"a private": {good, `"PRIVATE KEY", not a PUBLIC KEY`},
		"text":      {[]byte("no key"), "not PEM"},
		"nothing":   {nil, "not PEM"},
		"two":       {slices.Concat(public, public), "more than one"},
		"cut":       {pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte{0x30, 0x59, 0x30}}), "asn1"},
	} {
		if _, err := ParsePublicKey(c.pem); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		pem  []byte
		want string
	}{
		"P-384":      {privatePEM(t, p384), "P-384, not P-256"},
		"a public":   {public, `"PUBLIC KEY", not a PRIVATE KEY`},
		"text":       {[]byte("no key"), "not PEM"},
		"parameters": {pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS"}), "not PEM"},
		"encrypted":  {pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED SIGSTORE PRIVATE KEY"}), "ENCRYPTED SIGSTORE"},
	} {
		if _, err := ParsePrivateKey(c.pem); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	der, err := x509.MarshalECPrivateKey(key.signer.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	openssl := slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8}}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
	if got, err := ParsePrivateKey(openssl); err != nil || got.Public().ID() != key.Public().ID() {
		t.Error(err)
	}
}

// FuzzSplit: whatever the bytes are, what is signed is their beginning, and what was
// read is read again after it was joined.
func FuzzSplit(f *testing.F) {
	f.Add(content)
	joined, _ := Join(content, []Signature{{Payload: []byte("{}"), Signature: []byte{1}}})
	f.Add(joined)
	f.Add(append(joined, joined[len(content):]...))
	f.Add(append(slices.Clone(content), 0, 0x80, 0x80, 0x80, 0x80, 0x80, 1))
	f.Add(append(slices.Clone(content), 0, 0x13, 0x12))
	f.Fuzz(func(t *testing.T, module []byte) {
		signed, all, err := Split(module)
		if !bytes.HasPrefix(module, signed) {
			t.Fatal("what is signed is not its beginning")
		}
		var known *Error
		if err != nil {
			if !errors.As(err, &known) || known.Reason != SectionMalformed || all != nil {
				t.Fatal(all, err)
			}
			return
		}
		if len(all) == 0 {
			if len(signed) != len(module) {
				t.Fatal("bytes are not signed")
			}
			return
		}
		again, err := Join(signed, all)
		if err != nil {
			return // what is longer without the spaces that JSON has none of
		}
		same, others, err := Split(again)
		if err != nil || !bytes.Equal(same, signed) || len(others) != len(all) {
			t.Fatal(err)
		}
	})
}

// A section has at least one signature and not more than are looked at.
func TestSectionsHaveSomeSignatures(t *testing.T) {
	one := Signature{Payload: []byte("{}"), Signature: []byte{1}}
	for _, n := range []int{0, 1, maxSignatures, maxSignatures + 1} {
		section, err := json.Marshal(slices.Repeat([]Signature{one}, n))
		if err != nil {
			t.Fatal(err)
		}
		all, err := read(section)
		if good := n >= 1 && n <= maxSignatures; (err == nil) != good || good != (len(all) == n && n > 0) {
			t.Errorf("%d signatures: %d, %v", n, len(all), err)
		}
	}
}

// Of several signatures that of which is told is the one that is nearest to right.
func TestTheNearestErrorIsTold(t *testing.T) {
	all := []error{errors.New("odd"), &Error{Reason: Unsigned}, &Error{Reason: Untrusted}, &Error{Reason: Untrusted, Detail: "d"}, &Error{Reason: OfOtherIdentity}, &Error{Reason: OfOtherContent}, &Error{Reason: OtherStatement}}
	for i, a := range all {
		for j, b := range all {
			if got := Nearest(a, b); got != all[max(i, j)] {
				t.Errorf("of %v and %v %v", a, b, got)
			}
		}
	}
	a, b := &Error{Reason: BundleMalformed}, &Error{Reason: Untrusted, Detail: "d"}
	if Nearest(a, b) != error(b) || Nearest(b, a) != error(a) {
		t.Error("of equals not the second is told")
	}
}
