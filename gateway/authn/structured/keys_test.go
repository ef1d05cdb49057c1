package structured

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"
)

// rotating is an issuer without a network, whose keys may change, and which may fail. Where its
// keys are it redirects to where they were moved.
type rotating struct {
	t      *testing.T
	key    *rsa.PrivateKey
	kid    string
	broken error
	asked  int // for keys
	others int // things that were asked for
}

func newRotating(t *testing.T) *rotating {
	r := &rotating{t: t}
	r.rotate("1")
	return r
}

func (i *rotating) rotate(kid string) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		i.t.Fatal(err)
	}
	i.key, i.kid = key, kid
}

// RoundTrip implements [http.RoundTripper].
func (i *rotating) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	var say any
	switch r.URL.Path {
	case "/found":
		say = map[string]string{"issuer": "https://issuer.example", "jwks_uri": "https://issuer.example/keys"}
	case "/keys":
		w.Header().Set("Location", "/moved")
		w.WriteHeader(http.StatusFound)
	case "/moved":
		i.asked++
		if i.broken != nil {
			return nil, i.broken
		}
		say = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &i.key.PublicKey, KeyID: i.kid, Algorithm: "RS256", Use: "sig"}}}
	default:
		i.others++
	}
	data, err := json.Marshal(say)
	resp := w.Result()
	resp.Request, resp.Body = r, io.NopCloser(bytes.NewReader(data))
	return resp, err
}

// token is one of the present key, which may be called otherwise.
func (i *rotating) token(kid string) string {
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{"iss": "https://issuer.example", "aud": "gate", "sub": "ann", "exp": time.Now().Add(time.Hour).Unix()})
	token.Header["kid"] = kid
	text, err := token.SignedString(i.key)
	if err != nil {
		i.t.Fatal(err)
	}
	return text
}

// believing is what believes the tokens of an issuer that has told where its keys are, and what
// it asks by.
func believing(t *testing.T, i *rotating) (believes func(token string) bool, by *keys) {
	prefix := ""
	said := apiserver.JWTAuthenticator{
		Issuer:        apiserver.Issuer{URL: "https://issuer.example", DiscoveryURL: "https://issuer.example/found", Audiences: []string{"gate"}},
		ClaimMappings: apiserver.ClaimMappings{Username: apiserver.PrefixedClaimOrExpression{Claim: "sub", Prefix: &prefix}},
	}
	by = seldom(said.Issuer, i)
	a, err := oidc.New(t.Context(), oidc.Options{JWTAuthenticator: said, Client: &http.Client{Transport: by}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if err := a.HealthCheck(); err != nil {
		t.Fatal(err)
	}
	return func(token string) bool {
		_, ok, _ := authenticator.WrapAudienceAgnosticToken(authenticator.Audiences{"api"}, a).AuthenticateToken(t.Context(), token)
		return ok
	}, by
}

// Tokens of keys that nobody has do not have the issuer asked each time, and a key that is new
// is found a little later all the same.
func TestKeysAreAskedForNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRotating(t)
		believes, _ := believing(t, i)
		if !believes(i.token("1")) || i.asked != 1 {
			t.Errorf("a good token is not believed, or the issuer was asked %d times", i.asked)
		}
		for range 50 {
			if believes(i.token("2")) {
				t.Error("a token of no key is believed")
			}
		}
		if i.asked != 1 {
			t.Errorf("the issuer was asked %d times at once", i.asked)
		}
		i.rotate("2")
		if believes(i.token("2")) {
			t.Error("the keys were asked for again at once")
		}
		<-time.After(keysEvery)
		if !believes(i.token("2")) || i.asked != 2 {
			t.Errorf("the new key is not found, in %d calls", i.asked)
		}
		i.rotate("3")
		<-time.After(time.Hour)
		if !believes(i.token("3")) || i.asked != 3 {
			t.Errorf("a new key is not found at once after a while, in %d calls", i.asked)
		}
	})
}

// An issuer that fails is asked again soon, and not for each token.
func TestKeysThatAreNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRotating(t)
		believes, by := believing(t, i)
		i.broken = errors.New("broken")
		for range 50 {
			if believes(i.token("1")) {
				t.Error("a token is believed without a key")
			}
		}
		if i.asked != 1 {
			t.Errorf("the issuer was asked %d times at once", i.asked)
		}
		i.broken = nil
		<-time.After(retryEvery)
		if !believes(i.token("1")) || i.asked != 2 {
			t.Errorf("the key is not found after the failure, in %d calls", i.asked)
		}
		for range 3 { // what else the library asks for, such as claims, is never remembered
			resp, err := (&http.Client{Transport: by}).Get("https://issuer.example/claims")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		}
		if i.others != 3 {
			t.Errorf("something else was asked for %d times", i.others)
		}
	})
}

// The same over a network: whoever sends tokens that nobody signed has an issuer asked as
// seldom as the keys count.
func TestWhoShowsNothingHasIssuersAskedSeldom(t *testing.T) {
	i := newIssuer(t, false)
	var asked atomic.Int32
	usual := i.Config.Handler
	i.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			asked.Add(1)
		}
		usual.ServeHTTP(w, r)
	})
	begun := time.Now() // before it is asked the first time
	a := started(t, Config{Path: saved(t, head+"jwt: ["+i.said(true)+"]")}, true)
	other := newIssuer(t, false)
	other.URL = i.URL // who signs in the issuer's name
	for range 40 {
		if got := believes(t, a, other.token(t, "gate")); got != "an error" {
			t.Errorf("a forged token: %s", got)
		}
	}
	if n, most := int(asked.Load()), 1+int(time.Since(begun)/keysEvery); n == 0 || n > most {
		t.Errorf("the issuer was asked %d times, at most %d are due", n, most)
	}
	if got := believes(t, a, i.token(t, "gate")); got != "of:ann of g system:authenticated" {
		t.Errorf("a good one: %s", got)
	}
}
