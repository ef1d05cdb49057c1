package serviceaccount

import (
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// A token is believed for those that it was asked for, and for nobody else, whoever is
// meant: a token for another is none for this API, nor one for this API for another.
func TestTokensAreForWhomTheyWereAskedFor(t *testing.T) {
	for request, want := range map[string]map[string]bool{
		`{}`:                               {"": true, "https://issuer": true, "vault": false},
		`{"spec":{"audiences":["vault"]}}`: {"": false, "https://issuer": false, "vault": true, "other": false},
		`{"spec":{"audiences":["vault","https://issuer","another"]}}`: {"": true, "https://issuer": true, "vault": true, "another": true, "other": false},
	} {
		tokens, _ := newTokens(t, ecKey(t))
		out, err := ask(tokens, request)
		if err != nil {
			t.Fatal(request, err)
		}
		for audience, believed := range want {
			r := authn.Request{BearerToken: out.Status.Token}
			if audience != "" {
				r.Audiences = []string{audience}
			}
			if _, ok, err := tokens.Authenticate(t.Context(), r); ok != believed || ok != (err == nil) {
				t.Errorf("%s for %q: %t, %v", request, audience, ok, err)
			}
		}
	}
}

// Whom this API's tokens are for need not be who issues them.
func TestTokensAreForTheAPI(t *testing.T) {
	tokens, _ := newTokens(t, ecKey(t))
	tokens.Audiences = []string{"api", "api.example"}
	out, err := ask(tokens, `{}`)
	if err != nil || !slices.Equal(out.Spec.Audiences, tokens.Audiences) {
		t.Fatal(out, err)
	}
	other, err := ask(tokens, `{"spec":{"audiences":["https://issuer"]}}`)
	if err != nil {
		t.Fatal(err)
	}
	for token, believed := range map[string]bool{out.Status.Token: true, other.Status.Token: false} {
		if _, ok, err := tokens.Authenticate(t.Context(), authn.Request{BearerToken: token}); ok != believed {
			t.Errorf("%t, %v", ok, err)
		}
	}
}
