package serviceaccount

import (
	"encoding/json"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// What another party reads is enough to verify a token of any key.
func TestOthersVerifyTokens(t *testing.T) {
	signs, older := ecKey(t), rsaKey(t)
	tokens := &Tokens{Key: signs, Verifiers: []Verifier{older.Verifier, signs.Verifier}, Issuers: []string{"https://issuer.example/a", "https://b.example"}}
	text, err := tokens.KeySet()
	if err != nil {
		t.Fatal(err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(text, &set); err != nil || len(set.Keys) != 2 {
		t.Fatalf("%s, %v", text, err)
	}
	for n, k := range []*Key{signs, older} {
		if key := set.Keys[n]; key.Use != "sig" || key.Algorithm != k.method.Alg() || !key.IsPublic() {
			t.Errorf("key %d: %+v", n, key)
		}
		c := claims{}
		c.Subject = "system:serviceaccount:a:b"
		written, err := k.write(c)
		if err != nil {
			t.Fatal(err)
		}
		token, err := jwt.ParseSigned(written, []jose.SignatureAlgorithm{jose.ES256, jose.RS256})
		if err != nil {
			t.Fatal(err)
		}
		var said jwt.Claims
		if err := token.Claims(set.Key(token.Headers[0].KeyID)[0], &said); err != nil || said.Subject != c.Subject {
			t.Errorf("key %d: %+v, %v", n, said, err)
		}
	}
	const want = `{"issuer":"https://issuer.example/a","jwks_uri":"https://keys.example/k","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256","RS256"]}`
	if text, ok, err := tokens.Configuration("https://keys.example/k"); !ok || err != nil || string(text) != want {
		t.Errorf("%s, %t, %v", text, ok, err)
	}
	for _, issuer := range []string{"me", "http://issuer.example", "https://", "https://issuer.example?a=b", "https://issuer.example#a", "https://%zz"} {
		tokens.Issuers = []string{issuer}
		if text, ok, err := tokens.Configuration(""); ok || err != nil || text != nil {
			t.Errorf("%s publishes %s, %v", issuer, text, err)
		}
	}
}
