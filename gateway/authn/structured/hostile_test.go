package structured

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// endless says something as long as somebody listens, and counts; after what nobody may
// read it ends, so that who reads all of it can be told.
func endless(w http.ResponseWriter, said *atomic.Int64) {
	const most = 64 << 20
	w.Header().Set("Content-Type", "application/json")
	piece := []byte(strings.Repeat(" ", 64<<10))
	for said.Load() < most {
		n, err := w.Write(piece)
		if said.Add(int64(n)); err != nil {
			return
		}
	}
}

// mostSaid is more than what is read of an answer, and what sockets hold of it beside.
const mostSaid = 24 << 20

// An issuer, or a webhook, that has no end of what it says is not listened to for ever.
func TestAnswersWithoutEndAreNotRead(t *testing.T) {
	for _, where := range []string{"/.well-known/openid-configuration", "/keys"} {
		i := newIssuer(t, false)
		var said atomic.Int64
		usual := i.Config.Handler
		i.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == where {
				endless(w, &said)
				return
			}
			usual.ServeHTTP(w, r)
		})
		a := started(t, Config{Path: saved(t, head+"jwt: ["+i.said(true)+"]")}, where == "/keys")
		for end := time.Now().Add(20 * time.Second); said.Load() == 0 && time.Now().Before(end); {
			if got := believes(t, a, i.token(t, "gate")); got != "an error" {
				t.Errorf("%s: %s", where, got)
			}
		}
		i.Close() // waits for those that are under way
		if n := said.Load(); n == 0 || n > mostSaid {
			t.Errorf("%s: %d bytes were taken", where, n)
		}
	}
	var said atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { endless(w, &said) }))
	a := started(t, webhookAt(t, s.URL), true)
	if got := believes(t, a, "good"); got != "an error" {
		t.Error(got)
	}
	s.Close()
	if n := said.Load(); n == 0 || n > mostSaid {
		t.Errorf("the webhook: %d bytes were taken", n)
	}
}

// webhookAt asks a webhook, to which it shows credentials.
func webhookAt(t *testing.T, url string) Config {
	t.Helper()
	return Config{Webhook: Webhook{Version: "v1", CacheTTL: time.Hour, Path: saved(t, `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"`+url+`"}}],
		"users":[{"name":"u","user":{"token":"credentials"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"current-context":"c"}`)}}
}

// Nobody else is shown a token, or what this gateway proves to the webhook who it is by,
// as the webhook says so; and no error tells the token.
func TestAWebhookThatRedirectsIsNotFollowed(t *testing.T) {
	var others atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { others.Add(1) }))
	defer other.Close()
	for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, code) }))
		a := started(t, webhookAt(t, s.URL), true)
		_, ok, err := a.Authenticate(t.Context(), authn.Request{BearerToken: "confidential"})
		if ok || err == nil || strings.Contains(err.Error(), "confidential") || strings.Contains(err.Error(), "credentials") {
			t.Errorf("%d: %t, %v", code, ok, err)
		}
		s.Close()
	}
	if n := others.Load(); n > 0 {
		t.Errorf("somebody else was asked %d times", n)
	}
}

// A token is its issuer's alone: not one that nobody signed, or that was signed by what is
// public, by another issuer for the same audience, or for another time; which key signed
// it need not be said.
func TestTokensThatAreForged(t *testing.T) {
	i, other := newIssuer(t, false), newIssuer(t, false)
	a := started(t, Config{Path: saved(t, head+"jwt: ["+i.said(true)+", "+other.said(true)+"]")}, true)
	der, err := x509.MarshalPKIXPublicKey(&i.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	now := time.Now()
	for name, c := range map[string]struct {
		by    jwt.SigningMethod
		key   any
		kid   string
		times jwt.MapClaims
		want  string
	}{
		"genuine":           {jwt.SigningMethodRS256, i.key, "1", nil, "of:ann of g system:authenticated"},
		"of a key unsaid":   {jwt.SigningMethodRS256, i.key, "", nil, "of:ann of g system:authenticated"},
		"unsigned":          {jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "1", nil, "an error"},
		"by the public key": {jwt.SigningMethodHS256, public, "1", nil, "an error"},
		"by another way":    {jwt.SigningMethodRS512, i.key, "1", nil, "an error"},
		"by another issuer": {jwt.SigningMethodRS256, other.key, "1", nil, "an error"},
		"by an unknown key": {jwt.SigningMethodRS256, i.key, "2", nil, "an error"},
		"expired":           {jwt.SigningMethodRS256, i.key, "1", jwt.MapClaims{"exp": now.Add(-time.Minute).Unix()}, "an error"},
		"not yet":           {jwt.SigningMethodRS256, i.key, "1", jwt.MapClaims{"nbf": now.Add(time.Hour).Unix()}, "an error"},
		"without an end":    {jwt.SigningMethodRS256, i.key, "1", jwt.MapClaims{"exp": nil}, "an error"},
		"nested deeply":     {jwt.SigningMethodRS256, i.key, "1", jwt.MapClaims{"groups": nested(3000)}, "an error"},
	} {
		claims := jwt.MapClaims{"iss": i.URL, "aud": "gate", "sub": "ann", "groups": []string{"g"}, "exp": now.Add(time.Hour).Unix(), "jti": name}
		for k, v := range c.times {
			claims[k] = v
		}
		token := jwt.NewWithClaims(c.by, claims)
		if c.kid != "" {
			token.Header["kid"] = c.kid
		}
		text, err := token.SignedString(c.key)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := believes(t, a, text); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if _, _, err := a.Authenticate(t.Context(), authn.Request{BearerToken: text}); err != nil && strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("%s: the error tells the token", name)
		}
	}
}

func nested(depth int) any {
	var out any = "g"
	for range depth {
		out = []any{out}
	}
	return out
}

// What was remembered of a token for this API is not believed for another, nor the other
// way round; the issuers' tokens are for this API.
func TestTokensAreForOneAudience(t *testing.T) {
	i := newIssuer(t, false)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review authenticationv1.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		if review.Status.Authenticated = slices.Contains(review.Spec.Audiences, review.Spec.Token); review.Status.Authenticated {
			review.Status.User.Username, review.Status.Audiences = "bob", review.Spec.Audiences
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	defer s.Close()
	c := webhookAt(t, s.URL)
	c.Path = saved(t, head+"jwt: ["+i.said(true)+"]")
	a := started(t, c, true)
	jwt := i.token(t, "gate")
	for range 2 {
		for _, c := range []struct {
			token, audience string
			want            bool
		}{
			{jwt, "", true}, {jwt, "vault", false}, {jwt, "gate", false}, {jwt, "https://gateway.example", true},
			{"vault", "vault", true}, {"vault", "", false}, {"https://gateway.example", "", true}, {"https://gateway.example", "vault", false},
		} {
			r := authn.Request{BearerToken: c.token}
			if c.audience != "" {
				r.Audiences = []string{c.audience}
			}
			if _, ok, _ := a.Authenticate(t.Context(), r); ok != c.want {
				t.Errorf("%.30s for %q: %t", c.token, c.audience, ok)
			}
		}
	}
}
