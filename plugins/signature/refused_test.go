package signature

import (
	"crypto/ecdh"
	"crypto/rand"
	"crypto/rsa"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// section is a section of a module.
func section(id byte, content string) []byte {
	return append(binary.AppendUvarint([]byte{id}, uint64(len(content))), content...)
}

// What a module has at its end is read if it is its only and last section of signatures,
// and what else looks like one is told, or is content.
func TestSectionsOfModules(t *testing.T) {
	name := string(rune(len(SectionName))) + SectionName
	one := `[{"payload":"e30=","signature":"AQ=="}]`
	long := "[" + strings.Repeat(" ", maxSection-len(one)) + one[1:]
	wide := func(size ...byte) []byte { return append(append([]byte{0}, size...), "\x01x"...) }
	for _, c := range []struct {
		what   string
		module []byte
		signed int // of how many bytes after the preamble it has one signature, -1 for none
		want   string
	}{
		{"no module", []byte("\x7fELF1234"), -1, "it is no WebAssembly module"},
		{"nothing", nil, -1, "it is no WebAssembly module"},
		{"an empty module", preamble, -1, ""},
		{"one", slices.Concat(content, section(0, name+one)), len(content) - 8, ""},
		{"as long as it may be", slices.Concat(preamble, section(0, name+long)), 0, ""},
		{"longer", slices.Concat(preamble, section(0, name+long+" ")), -1, "its section wasmgate.signature has 65537 bytes, more than 65536"},
		{"not the last", slices.Concat(preamble, section(0, name+one), section(0, "\x01x")), -1, "its section wasmgate.signature is not the last one"},
		{"twice", slices.Concat(preamble, section(0, name+one), section(0, name+one)), -1, "its section wasmgate.signature is not the last one"},
		{"no JSON", slices.Concat(preamble, section(0, name+"x")), -1, "its section wasmgate.signature: invalid character"},
		{"another field", slices.Concat(preamble, section(0, name+`[{"by":"me"}]`)), -1, `its section wasmgate.signature: json: unknown field "by"`},
		{"two lists", slices.Concat(preamble, section(0, name+one+one)), -1, "its section wasmgate.signature has more than a list of signatures"},
		{"not a custom section", slices.Concat(preamble, section(11, name+one)), -1, ""},
		{"another name", slices.Concat(preamble, section(0, "\x04name"+one)), -1, ""},
		{"a name that is cut", slices.Concat(preamble, section(0, name[:9])), -1, ""},
		{"cut before its length", slices.Concat(preamble, []byte{0}), -1, "the section at byte 8 is longer than the module"},
		{"cut by a byte", slices.Concat(preamble, section(0, name+one)[:40]), -1, "the section at byte 8 is longer than the module"},
		{"a length of five bytes", slices.Concat(preamble, wide(0x82, 0x80, 0x80, 0x80, 0)), -1, ""},
		{"a length of six bytes", slices.Concat(preamble, wide(0x82, 0x80, 0x80, 0x80, 0x80, 0)), -1, "the section at byte 8 is longer than the module"},
	} {
		signed, all, err := Split(c.module)
		var e *Error
		switch {
		case c.want != "" && (!errors.As(err, &e) || e.Reason != SectionMalformed || !strings.HasPrefix(e.Detail, c.want) || all != nil):
			t.Errorf("%s: %v, %v, want %s", c.what, all, err, c.want)
		case c.want == "" && err != nil, c.want == "" && c.signed < 0 && (all != nil || len(signed) != len(c.module)):
			t.Errorf("%s: %d bytes are signed, %v, %v", c.what, len(signed), all, err)
		case c.signed >= 0 && (len(all) != 1 || string(all[0].Payload) != "{}" || len(signed) != 8+c.signed):
			t.Errorf("%s: %d bytes are signed, %v", c.what, len(signed), all)
		}
	}
}

// No more is joined than is read.
func TestWhatIsJoinedIsRead(t *testing.T) {
	one := Signature{Payload: []byte("{}"), Signature: []byte{1}}
	rest := maxSection - len(`[{"signature":""}]`) // of base64: a whole number of fours
	for what, c := range map[string]struct {
		all  []Signature
		good bool
	}{
		"as many as may be":         {slices.Repeat([]Signature{one}, maxSignatures), true},
		"more":                      {slices.Repeat([]Signature{one}, maxSignatures+1), false},
		"large":                     {[]Signature{{Signature: make([]byte, rest/4*3)}}, true},
		"larger":                    {[]Signature{{Signature: make([]byte, rest/4*3+3)}}, false},
		"bundles after a signature": {append([]Signature{one}, slices.Repeat([]Signature{{Bundle: "{}"}}, MaxBundles+1)...), false},
	} {
		joined, err := Join(content, c.all)
		if (err == nil) != c.good || (joined != nil) != c.good {
			t.Errorf("%s: %d bytes, %v", what, len(joined), err)
		}
		if !c.good {
			continue
		}
		if signed, all, err := Split(joined); err != nil || len(signed) != len(content) || len(all) != len(c.all) {
			t.Errorf("%s is read: %d signatures, %v", what, len(all), err)
		}
	}
}

// A trusted key that signed something does not vouch for whatever it is.
func TestWhatTrustedKeysDoNotVouchFor(t *testing.T) {
	key, digest := newKey(t), Digest(content)
	says := func(kind, reference, of string) []Signature {
		text, err := json.Marshal(Payload{Critical: Critical{Identity{reference}, Image{of}, kind}})
		if err != nil {
			t.Fatal(err)
		}
		made, err := key.Sign(text)
		if err != nil {
			t.Fatal(err)
		}
		return []Signature{{Payload: text, Signature: made}}
	}
	made, err := key.Sign([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		all  []Signature
		want string
	}{
		{says(Type, "", digest), ""},
		{says(Type, "tabs", digest), ""},
		{says(Type, "others", digest), `SignatureForOtherModule: the signature is for the module "others", not "tabs"`},
		{says(ImageType, "tabs", digest), `SignaturePayloadInvalid: what was signed has the critical.type "` + ImageType + `", not "wasmgate module signature"`},
		{says(Type, "tabs", "sha256:00"), `SignatureOfOtherContent: the signature is of "sha256:00", and this is ` + digest},
		{[]Signature{{Payload: []byte("x"), Signature: made}}, "SignaturePayloadInvalid: what was signed cannot be read: "},
		{nil, "Unsigned: it carries no signature"},
	} {
		by, err := Demand{Digest: digest, Name: "tabs"}.Met(c.all, key.Public())
		if c.want == "" && (err != nil || by.Key != key.Public().ID()) || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%v, %v, want %s", by, err, c.want)
		}
	}
}

// RSA keys have a size that is neither weak nor slow; other kinds of keys do not sign.
func TestKindsOfKeys(t *testing.T) {
	for bits, want := range map[uint]string{
		2047: "it is an RSA key of 2047 bits, not 2048 to 8192", 2048: "", 8192: "", 8193: "it is an RSA key of 8193 bits, not 2048 to 8192",
	} {
		n := new(big.Int).Lsh(big.NewInt(1), bits-1)
		key, err := ParsePublicKey(publicPEM(t, &rsa.PublicKey{N: n.Add(n, big.NewInt(1)), E: 65537}))
		if want == "" && (err != nil || key.ID() == "") || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
	x, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParsePublicKey(publicPEM(t, x.PublicKey())); err == nil || !strings.HasSuffix(err.Error(), "; ECDSA P-256, Ed25519 and RSA can be used") {
		t.Error(err)
	}
	if _, err := ParsePrivateKey(privatePEM(t, x)); err == nil || !strings.HasSuffix(err.Error(), "which does not sign") {
		t.Error(err)
	}
}
