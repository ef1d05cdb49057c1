package signature

import (
	"encoding/json"
	"errors"
	"testing"
)

// An image is signed if a trusted key says so of its digest, in the words of cosign; what
// the last of them that is trusted says wrong is told, with the place of the key.
func TestImagesThatAreSigned(t *testing.T) {
	one, two, foreign := newKey(t), newKey(t), newKey(t)
	keys := []PublicKey{one.Public(), two.Public()}
	signed := func(key PrivateKey, payload string) Signature {
		made, err := key.Sign([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		return Signature{Payload: []byte(payload), Signature: made}
	}
	of := func(kind, digest string) string {
		var p Payload
		p.Critical.Type, p.Critical.Image.Digest, p.Critical.Identity.Reference = kind, digest, "any.example/name"
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const digest = "sha256:aa"
	good := of(ImageType, digest)
	long := good + string(make([]byte, maxPayload))
	for name, c := range map[string]struct {
		all    []Signature
		key    int
		reason Reason
		says   string
	}{
		"none":                 {nil, 0, Unsigned, "its image has no signature"},
		"by the first":         {[]Signature{signed(foreign, good), signed(one, good)}, 0, "", ""},
		"by the second":        {[]Signature{signed(foreign, good), signed(two, good)}, 1, "", ""},
		"by both":              {[]Signature{signed(two, good), signed(one, good)}, 0, "", ""},
		"by nobody known":      {[]Signature{signed(foreign, good), {Payload: []byte(good)}}, 0, Untrusted, "none of the 2 signatures of its image is valid and by a trusted key or identity"},
		"of another":           {[]Signature{signed(two, of(ImageType, "sha256:bb"))}, 0, OfOtherContent, `the signature is of the image "sha256:bb", and this is sha256:aa`},
		"of a module":          {[]Signature{signed(two, of(Type, digest))}, 0, PayloadMalformed, `what was signed of the image has the critical.type "` + Type + `", not "cosign container image signature"`},
		"nothing to read":      {[]Signature{signed(one, "{")}, 0, PayloadMalformed, "what was signed of the image cannot be read: unexpected end of JSON input"},
		"far too long":         {[]Signature{signed(one, long)}, 0, Untrusted, "none of the 1 signatures of its image is valid and by a trusted key or identity"},
		"another, and good":    {[]Signature{signed(one, of(ImageType, "sha256:bb")), signed(one, good)}, 0, "", ""},
		"as long as it may be": {[]Signature{signed(one, good+string(spaces(maxPayload-len(good))))}, 0, "", ""},
	} {
		key, err := met(Demand{Digest: digest, Image: true}, c.all, keys...)
		var e *Error
		if key != c.key || (err == nil) != (c.reason == "") || err != nil && (!errors.As(err, &e) || e.Reason != c.reason || e.Detail != c.says) {
			t.Errorf("%s: key %d, %v", name, key, err)
		}
	}
	if (PublicKey{}).Made(signed(one, good)) {
		t.Error("no key made it")
	}
}

func spaces(n int) []byte {
	all := make([]byte, n)
	for i := range all {
		all[i] = ' '
	}
	return all
}
