package authn

import "testing"

// Tokens of a table are for this API: whoever else is meant, they are none.
func TestTokensOfATableAreForThisAPI(t *testing.T) {
	tokens := NewTokens()
	if err := tokens.Add("secret", User{Name: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := tokens.Authenticate(t.Context(), Request{BearerToken: "secret"}); !ok || err != nil {
		t.Error("it does not count", err)
	}
	if _, ok, _ := tokens.Authenticate(t.Context(), Request{BearerToken: "secret", Audiences: []string{"vault"}}); ok {
		t.Error("it counts for somebody else")
	}
	if _, ok, _ := tokens.Authenticate(t.Context(), Request{BearerToken: "secret", Audiences: []string{"api"}, ForAPI: true}); !ok {
		t.Error("it does not count for the API by one of its names")
	}
}
